package offline_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/llm/offline"
)

func indices(scored []offline.Scored) (list []int) {
	for _, s := range scored {
		list = append(list, s.Index)
	}
	return list
}

// Summarize chooses sentences that share words with others, and omits isolated and repeated ones.
func TestSummarize(t *testing.T) {
	t.Parallel()
	sentences := []string{
		"The harbour of Southhaven was built in 1871 for ships that carry coal.",
		"Lunch was served at noon.",
		"Coal ships from the north call at the harbour of Southhaven every week.",
		"The harbour was built in 1871 for ships that carry coal, in Southhaven.", // the first, again
		"Ships without coal pay no fee at the harbour.",
		"Somebody left an umbrella.",
		"***",
	}
	got := offline.Summarize(sentences, offline.Limit{Sentences: 2})
	if len(got) != 2 || slices.Contains(indices(got), 1) || slices.Contains(indices(got), 5) ||
		slices.Contains(indices(got), 0) == slices.Contains(indices(got), 3) {
		t.Errorf("chose %v", got)
	}
	for _, s := range got {
		if s.Score <= 1.0/float64(len(sentences)) {
			t.Errorf("chose %q, whose score %g is below the average", sentences[s.Index], s.Score)
		}
	}
	all := offline.Summarize(sentences, offline.Limit{})
	if want := 5; len(all) != want || !slices.IsSorted(indices(all)) {
		t.Errorf("without a limit %v; want %d in the order of the text", all, want)
	}
	if again := offline.Summarize(sentences, offline.Limit{}); !slices.Equal(all, again) {
		t.Error("a second run gives another ranking")
	}
	if got := offline.Summarize(sentences, offline.Limit{Words: 3}); len(got) != 1 {
		t.Errorf("of three words: %v; want the best sentence, however long it is", got)
	}
	if got := offline.Summarize(nil, offline.Limit{}); got != nil {
		t.Errorf("of nothing: %v", got)
	}
}

func TestSummarizeOtherScripts(t *testing.T) {
	t.Parallel()
	got := offline.Summarize([]string{"港は石炭のために建てられた。", "昼食は正午だった。", "石炭の船は毎週港に来る。"}, offline.Limit{Sentences: 2})
	if !slices.Equal(indices(got), []int{0, 2}) {
		t.Errorf("chose %v", got)
	}
}

// The time is bounded for any text: six thousand sentences of the same words have no links.
func TestSummarizeLongTexts(t *testing.T) {
	t.Parallel()
	var same, other []string
	for i := range 6000 {
		same = append(same, "The same words again and again, in every sentence of it.")
		other = append(other, fmt.Sprintf("Paragraph %d speaks of topic%d and of topic%d.", i, i%97, i%89))
	}
	for _, sentences := range [][]string{same, other} {
		if got := offline.Summarize(sentences, offline.Limit{Sentences: 5}); len(got) == 0 || len(got) > 5 {
			t.Errorf("chose %d", len(got))
		}
	}
}

func TestRelevant(t *testing.T) {
	t.Parallel()
	texts := []string{
		"Lunch was served at noon.",
		"The harbour master collects the fee in cash. " + strings.Repeat("He also keeps the log. ", 10),
		"Fees of the harbour are paid in cash to the harbour master.",
		"Cash is king.",
	}
	got := offline.Relevant("Who collects the harbour fees?", texts)
	if len(got) < 2 || got[0].Index != 2 || got[1].Index != 1 {
		t.Errorf("ranked %v", got)
	}
	for i := 1; i < len(got); i++ {
		if got[i].Score > got[i-1].Score || got[i].Score <= 0 {
			t.Errorf("ranked %v", got)
		}
	}
	if got := offline.Relevant("xylophone", texts); len(got) > 0 && got[0].Score > 0.3 {
		t.Errorf("a word that no text has: %v", got)
	}
	if got := offline.Relevant("harbour", nil); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

func TestSentences(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                              nil,
		"One. Two! Three? Four":         {"One.", "Two!", "Three?", "Four"},
		"It costs 3.50 today. Or 4.":    {"It costs 3.50 today.", "Or 4."},
		"Dr. Smith met Mr. Jones. Yes.": {"Dr. Smith met Mr. Jones.", "Yes."},
		"He asked: \"Why?\" Nobody knew. (So it was.) End.": {
			"He asked: \"Why?\"", "Nobody knew.", "(So it was.)",
			"End.",
		},
		"一つ目です。二つ目です！三つ目":                                   {"一つ目です。", "二つ目です！", "三つ目"},
		"first line\n\nsecond paragraph":                    {"first line", "second paragraph"},
		"wrapped\nline of one sentence.":                    {"wrapped\nline of one sentence."},
		"Version 1.2 of example.com is out, e.g. here. Ok.": {"Version 1.2 of example.com is out, e.g. here.", "Ok."},
	} {
		var got []string
		for _, s := range offline.Sentences(text) {
			if text[s.Start:s.Start+len(s.Text)] != s.Text {
				t.Errorf("%q is not at %d of %q", s.Text, s.Start, text)
			}
			got = append(got, s.Text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
