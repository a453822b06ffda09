package tagged

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// source is a file of the library: objects that stand one behind the other, and one plain table of where they are.
type source struct {
	data    []byte
	offsets []int // by the object's number, from 1
	end     int   // of the last object
	root    int
	info    int
}

var errLayout = errors.New("the library has written a PDF file in an unknown way")

// parse finds the objects of a file.
func parse(data []byte) (*source, error) {
	s := &source{data: data}
	tail := data[max(len(data)-2048, 0):]
	_, after, found := bytes.Cut(tail[max(bytes.LastIndex(tail, []byte("startxref")), 0):], []byte("startxref\n"))
	if !found {
		return nil, fmt.Errorf("%w: it has no startxref", errLayout)
	}
	number, _, _ := bytes.Cut(after, []byte("\n"))
	at, err := strconv.Atoi(string(number))
	if err != nil || at <= 0 || at >= len(data) {
		return nil, fmt.Errorf("%w: startxref is %.20q", errLayout, number)
	}
	s.end = at
	table := data[at:]
	var count int
	if _, err := fmt.Sscanf(string(table[:min(len(table), 40)]), "xref\n0 %d\n", &count); err != nil {
		return nil, fmt.Errorf("%w: no table at startxref", errLayout)
	}
	const entry = 20 // bytes, with the end of the line
	_, table, _ = bytes.Cut(table[len("xref\n"):], []byte("\n"))
	if count < 2 || len(table)/entry < count {
		return nil, fmt.Errorf("%w: a table of %d objects in %d bytes", errLayout, count, len(table))
	}
	s.offsets = make([]int, count)
	for n := 1; n < count; n++ {
		if s.offsets[n], err = strconv.Atoi(string(table[n*entry : n*entry+10])); err != nil || s.offsets[n] <= 0 || s.offsets[n] > at {
			return nil, fmt.Errorf("%w: object %d", errLayout, n)
		}
	}
	trailer := table[count*entry:]
	for _, key := range []struct {
		name string
		to   *int
	}{{"/Root ", &s.root}, {"/Info ", &s.info}} {
		i := bytes.Index(trailer, []byte(key.name))
		if i < 0 {
			return nil, fmt.Errorf("%w: no %s", errLayout, key.name)
		}
		if _, err := fmt.Sscanf(string(trailer[i+len(key.name):min(i+30, len(trailer))]), "%d 0 R", key.to); err != nil || *key.to < 1 || *key.to >= count {
			return nil, fmt.Errorf("%w: no object for %s", errLayout, key.name)
		}
	}
	return s, nil
}

// order are the numbers of the objects as they stand in the file.
func (s *source) order() []int {
	var all []int
	for n := range s.offsets[1:] {
		all = append(all, n+1)
	}
	slices.SortFunc(all, func(a, b int) int { return s.offsets[a] - s.offsets[b] })
	return all
}
