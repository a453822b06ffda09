package pdf

import (
	"fmt"
	"strings"
	"testing"
)

// TestCutLeader: only a leader to the number of a page, to an amount or to the end of the line is no part of the word.
func TestCutLeader(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Introduction.....12":      "Introduction|.....|12",
		"Preface.....iv":           "Preface|.....|iv",
		"Tables.....A-3":           "Tables|.....|A-3",
		"Soup.....€4.50":           "Soup|.....|€4.50",
		".....12":                  "|.....|12",
		"Introduction............": "Introduction|............|",
		"continued.....":           "continued.....||",
		"said.....nothing":         "said.....nothing||",
		"said.....I":               "said.....I||",
		"1,2,.....,n":              "1,2,.....,n||",
		"..........":               "..........||",
	} {
		title, dots, number := cutLeader(word{box: box{0, 0, 100, 12}, text: text}, leastAlone)
		if dots.text == "" {
			number.text = ""
		}
		if got := fmt.Sprintf("%s|%s|%s", title.text, dots.text, number.text); got != want {
			t.Errorf("%s: got %s", text, got)
		}
	}
}

// TestLeaderBeforeANumber: a short leader is one if a number follows on the line.
func TestLeaderBeforeANumber(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Loads..... 12": "Loads|.....|12", "continued..... soon": "continued.....|soon", "..... 12": ".....|12",
	} {
		var words []word
		for i, s := range strings.Fields(text) {
			words = appendWord(words, word{box: box{100 * float64(i), 0, 100*float64(i) + 90, 12}, text: s, order: len(words)})
		}
		var got []string
		for i, w := range words {
			if got = append(got, w.text); w.order != i {
				t.Errorf("%s: %s is word %d, not %d", text, w.text, w.order, i)
			}
		}
		if s := strings.Join(got, "|"); s != want {
			t.Errorf("%s: got %s", text, s)
		}
	}
}
