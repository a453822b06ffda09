package pdf

import "slices"

// A head over several columns, heads that nearly touch, and text across the columns hide the gaps between columns of amounts
// when few rows are below them. The rows of amounts show those gaps.

const (
	leastBody = 2 // rows of amounts
	leastGap  = 2 // points between columns
)

// columnCuts returns the positions between the columns of cells, wide lines of which have two or more.
func columnCuts(cells []cell, wide int) []float64 {
	cuts := cutsBetween(cells, wide)
	body, rows := amountRows(cells)
	if len(cuts) == 0 || len(cuts) > maxColumns || rows < leastBody {
		return cuts
	}
	more := cutsBetween(body, rows)
	for _, x := range more[:min(len(more), maxColumns)] {
		if !slices.ContainsFunc(cuts, func(c float64) bool { return sameGap(body, c, x) }) && amountsBeside(body, x) {
			cuts = append(cuts, x)
		}
	}
	slices.Sort(cuts)
	return besideSigns(cells, body, cuts)
}

// besideSigns moves the cuts between amounts and the signs of their currency to the left of the signs, where a head that is
// not above the amounts is parted from the column before. A cut that has another one there is left out.
func besideSigns(cells, body []cell, cuts []float64) []float64 {
	var out []float64
	for _, x := range cuts {
		left := x
		for _, c := range body {
			if sign := c.words[0]; sign.left < x && sign.right <= c.left && c.left > x {
				left = min(left, sign.left-1)
			}
		}
		crossed := left < x && slices.ContainsFunc(cells, func(c cell) bool {
			return (c.right < x || c.left > x) && slices.ContainsFunc(c.words, func(w word) bool {
				return w.left < left && w.right > left
			})
		})
		if crossed {
			left = x
		}
		if n := len(out); n == 0 || left >= out[n-1]+leastGap && (left == x || !sameGap(body, out[n-1], x)) {
			out = append(out, left)
		}
	}
	return out
}

// amountRows returns the cells of the lines that have several amounts, and the number of these lines. A year is no amount.
func amountRows(cells []cell) (body []cell, rows int) {
	amounts := map[int]int{} // of a line
	for _, c := range cells {
		if c.isAmounts() {
			if amounts[c.lineAt]++; amounts[c.lineAt] == 2 {
				rows++
			}
		}
	}
	for _, c := range cells {
		if amounts[c.lineAt] > 1 {
			body = append(body, c)
		}
	}
	return body, rows
}

// isAmounts reports whether a cell is only amounts, or a mark in their place. A year is no amount.
func (c cell) isAmounts() bool {
	switch c.words[0].text {
	case "†", "#", "*", "NA", "N/A", "n/a":
		return len(c.words) == 1
	}
	return isAmount(c.words[len(c.words)-1]) && !slices.ContainsFunc(c.words, func(w word) bool {
		return !isAmount(w) && !isSign(w) || isYear(w.text)
	})
}

// isYear reports whether a text is a year without other marks.
func isYear(s string) bool { return len(s) == 4 && (s[:2] == "19" || s[:2] == "20") }

// sameGap reports whether no cell has its middle between two positions.
func sameGap(cells []cell, a, b float64) bool {
	a, b = min(a, b), max(a, b)
	return !slices.ContainsFunc(cells, func(c cell) bool { return c.centerX() > a && c.centerX() < b })
}

// amountsBeside reports whether x is between columns of amounts: nearly all lines with a cell on either side of it have
// amounts there.
func amountsBeside(cells []cell, x float64) bool {
	both, amounts := 0, 0
	for i := 1; i < len(cells); i++ {
		a, b := cells[i-1], cells[i]
		if a.lineAt != b.lineAt || a.right > x || b.left < x {
			continue
		}
		both++
		amounts += one(a.isAmounts() && b.isAmounts())
	}
	return both >= leastBody && amounts*5 >= both*4
}

// headRows splits the head of a table below each line of text with the head of several columns that have heads of their own.
func headRows(head []cell) (out [][]cell) {
	ends, last := true, -1
	for i, c := range head {
		if ends && c.lineAt != last {
			out, ends = append(out, nil), false
		}
		last = c.lineAt
		out[len(out)-1] = append(out[len(out)-1], c)
		ends = ends || c.heads && headsBelow(head[i+1:], c) > 1
	}
	for i := range max(len(out)-1, 0) {
		var stay []cell
		for _, c := range slices.Backward(out[i]) {
			if isAbove(c, out[i+1]) {
				out[i+1] = slices.Insert(out[i+1], 0, c)
			} else {
				stay = slices.Insert(stay, 0, c)
			}
		}
		out[i] = stay
	}
	return out
}

// isAbove reports whether the head of one column goes on in the next row: there is text right below it in its column.
func isAbove(c cell, next []cell) bool {
	return c.from == c.to && slices.ContainsFunc(next, func(o cell) bool {
		return o.from == c.from && o.to == c.to && o.top-c.bottom < 0.5*c.height()
	})
}

// headsBelow counts the columns with text below the head of several ones, among the cells that follow it.
func headsBelow(cells []cell, over cell) int {
	columns := map[int]bool{}
	for _, c := range cells {
		if c.lineAt > over.lineAt && c.from >= over.from && c.to <= over.to {
			columns[c.from] = true
		}
	}
	return len(columns)
}

// joinsColumns reports whether a row has a head of several columns.
func joinsColumns(row []cell) bool {
	return slices.ContainsFunc(row, func(c cell) bool { return c.heads })
}
