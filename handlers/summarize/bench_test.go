package summarize_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/handlers/summarize"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/llm/token"
	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func TestMain(m *testing.M) { stacktest.Main(m, leaktest.Find) }

const dimensions = 8

// bench is a handler of summarize tasks with a model whose answers a test decides.
type bench struct {
	*handlertest.Bench
	model    *model
	deps     summarize.Deps
	progress *handlertest.Progress // of the last finished attempt
}

func newBench(t *testing.T, edit ...func(*summarize.Deps)) *bench {
	t.Helper()
	b := &bench{Bench: handlertest.New(t, task.Summarize, dimensions), model: &model{reply: parrot}}
	b.Job.MaxAttempts, b.Job.RequestedBy, b.Job.Source.InsertedAt = 9, "user-17", time.Now().Add(time.Hour)
	b.Job.Lease = 0 // the next attempt starts at once
	limits := extract.DefaultLimits
	limits.Bytes = 1 << 20
	b.deps = summarize.Deps{
		Bucket: b.Bucket, Extractor: extract.NewRouter(native.Extractors(pdf.New(), nil)), Store: b.Store,
		Limits: limits, TempDir: b.Temp,
		Log: slog.New(slog.DiscardHandler), Chat: b.model, Window: 128_000, Counter: token.New(), Concurrency: 4,
		Extracts: first{},
		Chunks:   token.New(), EmbeddingModel: "m", EmbeddingDimensions: dimensions,
	}
	for _, e := range edit {
		e(&b.deps)
	}
	return b
}

// result is the result in a webhook.
type result struct {
	summarize.Result
	ID string `json:"summary_id"`
}

// finish runs an attempt to its end, like the engine.
func (b *bench) finish(c handlers.Call) (r result) {
	b.Helper()
	out, err := summarize.New(b.deps).Handle(b.Context(), c)
	if err != nil {
		b.Fatalf("handle: %v", err)
	}
	b.Complete(c, out, &r)
	if r.ID == "" {
		b.Fatalf("result without summary_id: %+v", r)
	}
	b.progress = c.Progress.(*handlertest.Progress)
	return r
}

func (b *bench) summarize(payload string) result {
	b.Helper()
	return b.finish(b.Begin(payload, task.Hints{}))
}

// fails runs an attempt that must fail and returns its error.
func (b *bench) fails(payload string) *taskerr.Error {
	b.Helper()
	_, err := summarize.New(b.deps).Handle(b.Context(), b.Begin(payload, task.Hints{}))
	e, ok := errors.AsType[*taskerr.Error](err)
	if !ok {
		b.Fatalf("%s: got %v, want an error of the job", payload, err)
	}
	return e
}

// model answers by reply.
type model struct {
	reply func(q llm.Question) (llm.Answer, error)

	mu       sync.Mutex
	asked    []llm.Question
	inFlight int
	peak     int
}

func (*model) Model() string { return "scripted" }

func (m *model) Ask(_ context.Context, q llm.Question) (llm.Answer, error) {
	m.mu.Lock()
	m.asked = append(m.asked, q)
	m.inFlight++
	m.peak = max(m.peak, m.inFlight)
	m.mu.Unlock()
	a, err := m.reply(q)
	m.mu.Lock()
	m.inFlight--
	m.mu.Unlock()
	if err == nil && a.PromptTokens == 0 {
		a.PromptTokens, a.CompletionTokens = 100, 10
	}
	return a, err
}

// calls returns how many questions were asked since its last call.
func (m *model) calls() int { return len(m.questions()) }

func (m *model) questions() []llm.Question {
	m.mu.Lock()
	defer m.mu.Unlock()
	asked := m.asked
	m.asked = nil
	return asked
}

// numbered matches the line before a passage or a statement.
var numbered = regexp.MustCompile(`(?m)^§[0-9a-f]{8} \[(\d+)\].*\n`)

// parrot repeats and cites the first words of the first passages.
func parrot(q llm.Question) (llm.Answer, error) {
	text, _, _ := strings.Cut(q.Text, " end\n")
	var out reply
	for i, at := range numbered.FindAllStringIndex(text, 4) {
		words := strings.Fields(text[at[1]:])
		said := strings.Join(words[:min(len(words), 9)], " ")
		out.Summary = strings.TrimSpace(out.Summary + " " + said)
		out.KeyPoints = append(out.KeyPoints, keyPoint{said, []int{i + 1}})
	}
	return out.answer(), nil
}

// reply is a well-formed answer.
type reply struct {
	Summary   string     `json:"summary"`
	KeyPoints []keyPoint `json:"key_points"`
}

type keyPoint struct {
	Text    string `json:"text"`
	Sources []int  `json:"sources"`
}

func (r reply) answer() llm.Answer {
	raw, err := json.Marshal(r)
	if err != nil {
		panic(err) // impossible: plain values
	}
	return llm.Answer{Text: string(raw), End: llm.Stopped}
}

// say returns a model with these answers. It repeats the last one.
func say(answers ...llm.Answer) func(llm.Question) (llm.Answer, error) {
	var mu sync.Mutex
	return func(llm.Question) (llm.Answer, error) {
		mu.Lock()
		defer mu.Unlock()
		a := answers[0]
		if len(answers) > 1 {
			answers = answers[1:]
		}
		return a, nil
	}
}

// first chooses the first sentences.
type first struct{}

func (first) Model() string { return "offline-first" }

func (first) Sentences(text string) []string {
	return regexp.MustCompile(`[^.!?]*[.!?]\s*`).FindAllString(text, -1)
}

func (first) Choose(sentences []string, most, words int) (chosen []int) {
	for i, s := range sentences {
		if words -= len(strings.Fields(s)); most > 0 && i == most || words < 0 && i > 0 && most == 0 {
			break
		}
		chosen = append(chosen, i)
	}
	return chosen
}

// long returns a document of this many sections of about 300 tokens; edited sections have another text.
func long(sections int, edited ...int) string {
	var b strings.Builder
	b.WriteString("# Log of the duty officer\n")
	for s := range sections {
		fmt.Fprintf(&b, "\n## Day %d of the voyage\n\n", s)
		for watch := range 8 {
			fmt.Fprintf(&b, "Watch %d of day %d: the wind blew at %d knots, %d ships came in and %d ships went out "+
				"before the tide.\n\n",
				watch, s, (s*7+watch)%50, s+watch, s%5)
		}
		for _, e := range edited {
			if e == s {
				b.WriteString("Then a storm came up from the south, and nothing else was written down.\n\n")
			}
		}
	}
	return b.String()
}
