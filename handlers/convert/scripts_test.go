package convert_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/internal/deck/decktest"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// TestBulletsOfAnyScript: a bullet of 20 words, and a title, have as much room in a script of three bytes a letter as in
// one of one. What is longer is left out, and the warning gives that as its reason.
func TestBulletsOfAnyScript(t *testing.T) {
	t.Parallel()
	b := handlertest.New(t, task.Convert, 8)
	for name, word := range map[string]string{
		"english": "harbour", "greek": "λιμάνι", "hindi": "बंदरगाह", "tamil": "துறைமுகம்", "malayalam": "തുറമുഖം",
		"thai": "ท่าเรือ", "georgian": "ნავსადგური",
	} {
		t.Run(name, func(t *testing.T) {
			b := b.With(t)
			line := func(words int) string { return strings.TrimSpace(strings.Repeat(word+" ", words)) }
			good, title, long := line(20), line(12), line(80)
			if n := utf8.RuneCountInString(good); n > 300 {
				t.Fatalf("the bullet has %d characters", n)
			}
			m := &writer{reply: func(llm.Question) (llm.Answer, error) {
				return answer(page{title, []bullet{{good, 1}, {long, 1}, {" [1]", 1}}})
			}}
			b.Put(name+".md", "# "+line(2)+"\n\n"+line(60)+"\n")
			r, d := converted(b, modelled(b, m), `{"filename":"`+name+`.md"}`)
			shown := false
			for _, s := range d.Slides {
				shown = shown || s.Title == title
			}
			if text := decktest.Text(d); !shown || !strings.Contains(text, good) || strings.Contains(text, long) {
				t.Errorf("%s", text)
			}
			if w := strings.Join(r.Warnings, "\n"); w != "1 bullets of the model were left out: they have more than 400 characters" {
				t.Errorf("warnings %q", w)
			}
		})
	}
}
