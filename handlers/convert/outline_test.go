package convert_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/handlers/convert"
	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/deck/decktest"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/llm/token"
	"github.com/seed-7227ef26/async-worker/internal/privacy"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// writer is a model that answers by reply.
type writer struct {
	reply func(q llm.Question) (llm.Answer, error)

	mu    sync.Mutex
	asked []llm.Question
}

func (*writer) Model() string { return "scripted" }

func (w *writer) Ask(_ context.Context, q llm.Question) (llm.Answer, error) {
	w.mu.Lock()
	w.asked = append(w.asked, q)
	w.mu.Unlock()
	return w.reply(q)
}

var passage = regexp.MustCompile(`(?m)^§[0-9a-f]{8} \[(\d+)\] under: (.*)\n(.*)$`)

type bullet struct {
	Text   string `json:"text"`
	Source int    `json:"source"`
}

type page struct {
	Title   string   `json:"title"`
	Bullets []bullet `json:"bullets"`
}

func answer(pages ...page) (llm.Answer, error) {
	raw, err := json.Marshal(map[string]any{"slides": pages})
	return llm.Answer{Text: string(raw), End: llm.Stopped, PromptTokens: 100, CompletionTokens: 50}, err
}

// parrot makes a slide of each heading, with a bullet of the first words of each passage, and one that is made up.
func parrot(q llm.Question) (llm.Answer, error) {
	var pages []page
	for i, m := range passage.FindAllStringSubmatch(q.Text, -1) {
		if n := len(pages); n == 0 || pages[n-1].Title != m[2] {
			pages = append(pages, page{Title: m[2]})
		}
		words := strings.Fields(m[3])
		last := &pages[len(pages)-1]
		last.Bullets = append(last.Bullets, bullet{"In short: " + strings.Join(words[:min(len(words), 6)], " ") + fmt.Sprintf(" [%d]", i+1), i + 1},
			bullet{"It costs 987654 crowns.", i + 1}, bullet{"From nowhere.", 4711})
	}
	return answer(pages...)
}

func modelled(b *handlertest.Bench, m *writer) convert.Deps {
	d := deps(b)
	d.Chat, d.Window, d.Counter = m, 128_000, token.New()
	return d
}

const report = `# Harbour report

## Berths

The harbour has nine berths, of which five are in the North Basin and four in the South Basin, where the fishing boats lie.

Ships of up to 190 metres may berth in the North Basin; longer ones wait outside until the pilot comes aboard. Write to ada@example.org.

## Fees

| Length | Fee |
|---|---|
| 24 m | 95 |

Fees are charged for each begun day and include water and the disposal of household waste; shore power is metered apart from that, and paid by the master.

Museum ships are our guests for as long as they like, and pay nothing at all, not even for the shore power that they take.

## Note

Short.
`

// TestModel: with a model the slides have bullets, each of which cites its passage; what is made up is left out; tables
// are as they were, and short texts too; an attempt that comes back asks nothing again.
func TestModel(t *testing.T) {
	t.Parallel()
	b := handlertest.New(t, task.Convert, 8)
	m := &writer{reply: parrot}
	b.Put("report.md", report)
	call := b.Begin(`{"filename":"report.md"}`, task.Hints{})
	if _, err := convert.New(modelled(b, m)).Handle(t.Context(), call); err != nil || len(m.asked) != 1 {
		t.Fatal(len(m.asked), err)
	}
	out, err := convert.New(modelled(b, m)).Handle(t.Context(), handlers.Call{
		Task: call.Task, Holder: call.Holder, Attempt: 2, Checkpoint: call.Progress.(*handlertest.Progress).Pending,
		Progress: &handlertest.Progress{},
	})
	if err != nil || len(m.asked) != 1 {
		t.Fatalf("the next attempt: %d questions, %v", len(m.asked), err)
	}
	var r convert.Result
	b.Complete(call, out, &r)
	d, err := deck.Read(strings.NewReader(b.Get(r.ResultPath)))
	if err != nil {
		t.Fatal(err)
	}
	if r.Model != "scripted" || d.Source.Method != "model" || !strings.Contains(strings.Join(r.Warnings, " "), "8 bullets of the model were left out") {
		t.Errorf("%+v", r)
	}
	text := decktest.Text(d)
	if strings.Contains(text, "987654") || strings.Contains(text, "nowhere") || strings.Contains(text, "[1]") ||
		!strings.Contains(text, "In short: The harbour has nine") || !strings.Contains(text, "Short.") || !strings.Contains(text, "95") {
		t.Errorf("%s", text)
	}
	for _, s := range d.Slides {
		if s.Title != "Berths" {
			continue
		}
		body := s.Elements[1].Text
		if len(body.Paragraphs) != 2 || !strings.HasPrefix(body.Paragraphs[0].Cites, "The harbour has nine berths") ||
			!strings.Contains(s.Notes, "“The harbour has nine berths") {
			t.Errorf("%+v, notes %q", body, s.Notes)
		}
	}
}

// TestModelIsOfNoUse: whatever the model answers, the text is on the slides; the service's outage is a retry.
func TestModelIsOfNoUse(t *testing.T) {
	t.Parallel()
	b := handlertest.New(t, task.Convert, 8)
	for i, c := range []struct {
		reply   func(llm.Question) (llm.Answer, error)
		warning string
	}{
		{func(llm.Question) (llm.Answer, error) { return llm.Answer{Text: "no JSON", End: llm.Stopped}, nil }, "two answers that can't be used"},
		{func(llm.Question) (llm.Answer, error) { return answer() }, "two answers that can't be used"},
		{func(llm.Question) (llm.Answer, error) { return llm.Answer{End: llm.Refused}, nil }, "refused"},
		{func(llm.Question) (llm.Answer, error) { return llm.Answer{End: llm.Filtered}, nil }, "filtered"},
		{func(llm.Question) (llm.Answer, error) {
			return llm.Answer{}, &taskerr.Error{Class: taskerr.ValidationError, Cause: &llm.TooLong{}}
		}, "longer than the model's context"},
		{func(llm.Question) (llm.Answer, error) { // of one part only, and nothing of the others
			return answer(page{"Berths", []bullet{{"Nine berths.", 1}}})
		}, ""},
	} {
		name := fmt.Sprintf("report%d.md", i)
		b.Put(name, report)
		r, d := converted(b, modelled(b, &writer{reply: c.reply}), `{"filename":"`+name+`"}`)
		if !strings.Contains(strings.Join(r.Warnings, " "), c.warning) || !strings.Contains(decktest.Text(d), "Museum ships are our guests") {
			t.Errorf("%d: %q, %s", i, r.Warnings, decktest.Text(d))
		}
	}
	b.Put("down.md", report)
	down := taskerr.Errorf(taskerr.ModelOverloaded, "busy")
	_, err := convert.New(modelled(b, &writer{reply: func(llm.Question) (llm.Answer, error) { return llm.Answer{}, down }})).
		Handle(t.Context(), b.Begin(`{"filename":"down.md"}`, task.Hints{}))
	if got := taskerr.Classify(err); got.Class != taskerr.ModelOverloaded {
		t.Errorf("an outage: %v", err)
	}
}

// TestModelPrivacy: neither the model nor the deck that it writes has what PII_MODE hides; and a task has its limit of
// tokens.
func TestModelPrivacy(t *testing.T) {
	t.Parallel()
	b := handlertest.New(t, task.Convert, 8)
	b.Put("report.md", report)
	m := &writer{reply: parrot}
	d := modelled(b, m)
	d.Privacy = privacy.NewFilter(privacy.Options{
		Mode: privacy.Redact, Detector: privacy.Patterns{}, Language: func(string) string { return "en" },
	})
	_, made := converted(b, d, `{"filename":"report.md"}`)
	if len(m.asked) == 0 || strings.Contains(m.asked[0].Text, "ada@") || strings.Contains(decktest.Text(made)+made.Slides[1].Notes, "ada@") {
		t.Error("the model or the deck has an address")
	}
	b.Put("again.md", report)
	d.MaxTokens = 100
	m.asked = nil
	if r, _ := converted(b, d, `{"filename":"again.md"}`); len(m.asked) > 0 || !strings.Contains(strings.Join(r.Warnings, " "), "MAX_TASK_TOKENS") {
		t.Errorf("%d questions, %q", len(m.asked), r.Warnings)
	}
}
