package pdf

import (
	"fmt"
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
		title, dots, number := cutLeader(word{box: box{0, 0, 100, 12}, text: text})
		if dots.text == "" {
			number.text = ""
		}
		if got := fmt.Sprintf("%s|%s|%s", title.text, dots.text, number.text); got != want {
			t.Errorf("%s: got %s", text, got)
		}
	}
}
