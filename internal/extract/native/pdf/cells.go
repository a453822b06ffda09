package pdf

import "slices"

// cellsOf splits a line at its wide gaps.
func cellsOf(l line) []cell { return cellsApart(l, 0.9) }

// cellsApart splits a line at gaps that are at least as wide, in font sizes. An amount is in one cell with the sign of its
// currency, which does not count in the cell's box.
func cellsApart(l line, gap float64) []cell {
	var out []cell
	words := l.words()
	start := 0 // of the last cell
	for i, w := range words {
		n := len(out)
		amount := n > 0 && start == i-1 && signsAmount(words, i-1)
		if n > 0 && (amount || w.left-out[n-1].right < gap*w.em() && !jumps(words[i-1], w) && !parts(words, i, gap)) {
			out[n-1].words = words[start : i+1 : i+1]
			if out[n-1].box = out[n-1].union(w.box); amount {
				out[n-1].box = w.box
			}
			continue
		}
		start = i
		out = append(out, cell{box: w.box, words: words[i : i+1 : i+1], order: w.order})
	}
	return out
}

// withoutLeader leaves out a dot leader from a label to several cells, most of them amounts. In a table of contents it leads to
// one.
func (l line) withoutLeader() line {
	words := l.words()
	if !hasLeader(words) {
		return l
	}
	end := len(words)
	for end > 0 && !onlyDots(words[end-1].text) {
		end--
	}
	if cells := cellsOf(line{all: words[end:]}); len(cells) < 2 || amountsIn(cells)*2 <= len(cells) {
		return l
	}
	return line{all: slices.DeleteFunc(slices.Clone(words), isLeader)}
}
