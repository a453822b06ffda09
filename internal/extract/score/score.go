// Package score compares an extraction with a reference, for tests: how much of the text is there, and whether
// it is in reading order.
package score

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

var (
	comment = regexp.MustCompile(`(?s)<!--.*?-->`)
	image   = regexp.MustCompile(`!\[[^\]]*\]\([^)]*\)`)
	link    = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	lineEnd = strings.NewReplacer("\r\n", "\n", "\r", "\n")
	entity  = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&", `\_`, "_", "\u00ad", "")
	wrapped = regexp.MustCompile(`([\pL\pN_])-\n([\pL\pN_])`)
)

// Words strips Markdown and returns the text's words in lower case, by Unicode's full mapping as in Python:
// with the final sigma, and with a dotless i distinct from i.
func Words(text string) []string {
	text = comment.ReplaceAllString(text, " ")
	text = image.ReplaceAllString(text, " ")
	text = link.ReplaceAllString(text, "$1")
	text = entity.Replace(text)
	text = wrapped.ReplaceAllString(text, "$1$2")
	return strings.FieldsFunc(cases.Lower(language.Und).String(text), func(r rune) bool {
		return r != '_' && !unicode.IsLetter(r) && !unicode.IsNumber(r)
	})
}

// Score compares an output with its reference, both Markdown; the reference may have any line ends. f1 is the
// F1 of the two multisets of words. order is the ratio of Ratcliff and Obershelp: twice the words in matching
// runs, found from the longest down, to the words of both ("Pattern Matching: The Gestalt Approach", Dr. Dobb's
// Journal, July 1988; as Python's difflib.SequenceMatcher without its junk heuristics).
func Score(reference, output string) (f1, order float64) {
	a, b := Words(lineEnd.Replace(reference)), Words(output)
	if len(a)+len(b) == 0 {
		return 1, 1
	}
	counts := map[string]int{}
	for _, w := range a {
		counts[w]++
	}
	shared := 0
	for _, w := range b {
		if counts[w] > 0 {
			counts[w]--
			shared++
		}
	}
	total := float64(len(a) + len(b))
	return 2 * float64(shared) / total, 2 * float64(matching(a, b)) / total
}

// matching returns the number of words in matching runs.
func matching(a, b []string) int {
	places := map[string][]int{} // of each word in b, ascending
	for j, w := range b {
		places[w] = append(places[w], j)
	}
	m := &matcher{a: a, places: places, lengths: make([]int, len(b)+1)}
	sum := 0
	type span struct{ aFrom, aTo, bFrom, bTo int }
	for queue := []span{{0, len(a), 0, len(b)}}; len(queue) > 0; {
		s := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		i, j, size := m.longest(s.aFrom, s.aTo, s.bFrom, s.bTo)
		if size == 0 {
			continue
		}
		sum += size
		if s.aFrom < i && s.bFrom < j {
			queue = append(queue, span{s.aFrom, i, s.bFrom, j})
		}
		if i+size < s.aTo && j+size < s.bTo {
			queue = append(queue, span{i + size, s.aTo, j + size, s.bTo})
		}
	}
	return sum
}

type matcher struct {
	a       []string
	places  map[string][]int
	lengths []int // by position in b plus 1: the length of the run that ends there; all zero between calls
}

// longest finds the longest run that a[aFrom:aTo] and b[bFrom:bTo] share; of several, the one that starts first
// in a, then in b.
func (m *matcher) longest(aFrom, aTo, bFrom, bTo int) (bestA, bestB, bestSize int) {
	bestA, bestB = aFrom, bFrom
	var before []int // positions in b with a length from the previous row
	for i := aFrom; i < aTo; i++ {
		var now []int
		places := m.places[m.a[i]]
		// From the right, so that the previous row's value is still there when it is read.
		for k := len(places) - 1; k >= 0; k-- {
			j := places[k]
			if j >= bTo {
				continue
			}
			if j < bFrom {
				break
			}
			m.lengths[j+1] = m.lengths[j] + 1
			now = append(now, j)
		}
		m.clear(before, now)
		for k := len(now) - 1; k >= 0; k-- {
			j := now[k]
			if size := m.lengths[j+1]; size > bestSize {
				bestA, bestB, bestSize = i-size+1, j-size+1, size
			}
		}
		before = now
	}
	m.clear(before, nil)
	return bestA, bestB, bestSize
}

// clear resets the lengths of old that are not in now; both descend.
func (m *matcher) clear(old, now []int) {
	k := 0
	for _, j := range old {
		for k < len(now) && now[k] > j {
			k++
		}
		if k >= len(now) || now[k] != j {
			m.lengths[j+1] = 0
		}
	}
}
