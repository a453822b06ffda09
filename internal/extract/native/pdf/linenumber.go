package pdf

import (
	"cmp"
	"slices"
	"strconv"
)

// The lines of a program may be numbered. Their numbers are apart from the text, as the first column of a table is.

// minNumbered is how many lines a numbered listing has at least.
const minNumbered = 3

// lineNumber is a number that may be that of a line.
type lineNumber struct{ word, value int }

// joinLineNumbers makes the numbers of a listing's lines the first words of its lines: numbers below each other, each one
// more than the one above it, with text in a monospaced font beside most of them.
func (p *page) joinLineNumbers() {
	if !slices.ContainsFunc(p.words, func(w word) bool { return w.mono }) {
		return
	}
	var numbers []lineNumber
	for i, w := range p.words {
		if n, err := strconv.Atoi(w.text); err == nil && n > 0 && len(w.text) <= 4 {
			numbers = append(numbers, lineNumber{i, n})
		}
	}
	if len(numbers) < minNumbered {
		return
	}
	edge := func(n lineNumber) int { return int(p.words[n.word].right + 0.5) }
	slices.SortStableFunc(numbers, func(a, b lineNumber) int {
		return cmp.Or(cmp.Compare(edge(a), edge(b)), cmp.Compare(p.words[a.word].top, p.words[b.word].top))
	})
	var beside map[int][]int
	for start := 0; start < len(numbers); {
		end := start + 1
		for end < len(numbers) && numbers[end].value == numbers[end-1].value+1 && edge(numbers[end]) == edge(numbers[start]) {
			end++
		}
		if end-start >= minNumbered {
			if beside == nil {
				beside = p.wordsByHeight()
			}
			p.joinNumbers(numbers[start:end], beside)
		}
		start = end
	}
}

// joinNumbers joins the numbers of one listing with the text beside them.
func (p *page) joinNumbers(numbers []lineNumber, beside map[int][]int) {
	next := make([]int, len(numbers)) // the word to the right of each, or -1
	mono, other := 0, 0
	for i, n := range numbers {
		next[i] = -1
		w := p.words[n.word]
		for _, at := range []int{-1, 0, 1} {
			for _, j := range beside[int(w.centerY())/stripe+at] {
				o := p.words[j]
				if j == n.word || abs(o.centerY()-w.centerY()) > 0.4*max(w.em(), o.em()) {
					continue
				}
				if o.right <= w.left+1 && w.left-o.right < 6*w.em() {
					return // it is not the first of its line
				}
				if o.left >= w.right-1 && (next[i] < 0 || o.left < p.words[next[i]].left) {
					next[i] = j
				}
			}
		}
		if next[i] >= 0 {
			mono += one(p.words[next[i]].mono)
			other += one(!p.words[next[i]].mono)
		}
	}
	if mono < minNumbered-1 || other > 0 && mono < 4*other {
		return
	}
	for i, n := range numbers {
		w := &p.words[n.word]
		w.mono, w.numbers = true, true
		if j := next[i]; j >= 0 {
			w.right = max(w.right, p.words[j].left-0.3*w.em())
			w.size, w.bold, w.italic = p.words[j].size, p.words[j].bold, p.words[j].italic
		}
	}
}

// wordsByHeight returns the words by the stripe of the page that their middle is in.
func (p *page) wordsByHeight() map[int][]int {
	out := map[int][]int{}
	for i, w := range p.words {
		at := int(w.centerY()) / stripe
		out[at] = append(out[at], i)
	}
	return out
}
