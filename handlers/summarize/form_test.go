package summarize_test

import (
	"strings"
	"testing"
)

// A summary without a short first sentence is cut after a word, in scripts without spaces after a character.
func TestCutWithinASentence(t *testing.T) {
	t.Parallel()
	for summary, want := range map[string]string{
		strings.Repeat("word ", 30):                  strings.TrimSpace(strings.Repeat("word ", 10)) + "…",
		"港の潮は一日に二度満ちて水先人はそれを待つ":                      "港の潮は一日に二度満…",
		"น้ำขึ้นวันละสองครั้งที่ท่าเรือนี้":          "น้ำขึ้นวันละสอ…",
		"one/two/three/4/5/6/7/8/9/ten/eleven":       "one/two/three/4/5/6/7/8/9/ten/…",
		"a1 a2 a3 a4 a5 a6 a7 a8 a9 a10 (a11) a12 港": "a1 a2 a3 a4 a5 a6 a7 a8 a9 a10…",
	} {
		b := newBench(t)
		b.Put("tides.md", "The tide rises.")
		b.model.reply = say(reply{summary, []keyPoint{{"It rises.", []int{1}}}}.answer())
		if r := b.summarize(`{"filename":"tides.md","max_words":10}`); r.Summary != want || !r.Cut || r.Words != 10 {
			t.Errorf("%q: %q, %d words", summary, r.Summary, r.Words)
		}
	}
}
