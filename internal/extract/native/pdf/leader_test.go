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
		"Fraud. . . . . . . . . .": "Fraud|..........|",
		"and so on. . . . . .":     "and so on......||",
		"Loans 3 ����������":       "Loans 3 |..........|",
		"����":                     "����||",
	} {
		title, dots, number := cutLeader(word{box: box{0, 0, 100, 12}, text: withDots(text)}, leastAlone)
		if dots.text == "" {
			number.text = ""
		}
		if got := fmt.Sprintf("%s|%s|%s", title.text, dots.text, number.text); got != want {
			t.Errorf("%s: got %s", text, got)
		}
	}
}

// TestLeaderOfSpacedDots: a word of dots may have narrow spaces in it.
func TestLeaderOfSpacedDots(t *testing.T) {
	t.Parallel()
	for want, line := range map[string]line{
		"crime 467": lineOf("0:crime", "30:. .", "45:.", "60:467"), "crime . . 467": lineOf("0:crime", "30:. .", "60:467"),
	} {
		if got := joinWords(line.words()); got != want {
			t.Errorf("got %q, want %q", got, want)
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
