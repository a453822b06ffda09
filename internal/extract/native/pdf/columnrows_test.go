package pdf

import "testing"

// TestRowsOfColumns: columns of running text have text in nearly all rows, those of a table have room below their short cells.
func TestRowsOfColumns(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		lines int // of each six in the second column
		want  bool
	}{"running text": {6, true}, "a short last column": {-6, true}, "cells": {4, false}} {
		var rows [][]cell
		for i := range 12 {
			var row []cell
			for at, lines := range []int{6, tt.lines} {
				if i%6 < lines || i < -lines {
					place := box{100 * float64(at), 12 * float64(i), 100*float64(at) + 80, 12*float64(i) + 10}
					row = append(row, cell{box: place, words: []word{{box: place, text: "goes"}}, from: at, to: at})
				}
			}
			rows = append(rows, row)
		}
		if got := inColumns(rows, 2); got != tt.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}
