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

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/handlers/summarize"
	"github.com/seed-7227ef26/async-worker/internal/blob/dir"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/llm/token"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func TestMain(m *testing.M) { stacktest.Main(m, func() error { return goleak.Find() }) }

const dimensions = 8

// bench is a handler on a real Postgres and a folder of blobs, with a model that says what a test wants.
type bench struct {
	*testing.T
	store  store.Store
	bucket *dir.Bucket
	model  *model
	deps   summarize.Deps
	url    string // of the database
	jobs   int
}

func newBench(t *testing.T, edit ...func(*summarize.Deps)) *bench {
	t.Helper()
	b := &bench{
		T: t, bucket: dir.New(t.TempDir()), model: &model{reply: parrot},
		url: stacktest.PostgresWith(t, schema.Options{Dimensions: dimensions}),
	}
	var err error
	if b.store, err = postgres.Open(t.Context(), b.url, postgres.Options{ClientID: "acme", Dimensions: dimensions,
		MaxConns: 4}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.store.Close)
	if err := b.bucket.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	limits := extract.DefaultLimits
	limits.Bytes = 1 << 20
	b.deps = summarize.Deps{
		Bucket: b.bucket, Extractor: extract.NewRouter(native.Extractors(pdf.New(), nil)), Store: b.store,
		Limits: limits, TempDir: t.TempDir(),
		Log: slog.New(slog.DiscardHandler), Chat: b.model, Window: 128_000, Counter: token.New(), Concurrency: 4,
		Extracts: first{},
		Chunks:   token.New(), EmbeddingModel: "m", EmbeddingDimensions: dimensions,
	}
	for _, e := range edit {
		e(&b.deps)
	}
	return b
}

func (b *bench) put(name, text string) {
	b.Helper()
	if _, err := b.bucket.Put(b.Context(), name, strings.NewReader(text), "text/markdown"); err != nil {
		b.Fatal(err)
	}
}

// begin starts a job for a payload.
func (b *bench) begin(payload string, hints task.Hints) handlers.Call {
	b.Helper()
	b.jobs++
	return b.attempt(fmt.Sprint("job-", b.jobs), payload, hints)
}

// attempt begins an attempt of a job; one that is over begins another series when it is forced.
func (b *bench) attempt(id, payload string, hints task.Hints) handlers.Call {
	b.Helper()
	begun, err := b.store.Begin(b.Context(), store.Begin{
		JobID: id, Type: "summarize", Payload: json.RawMessage(payload), Hints: json.RawMessage("{}"),
		Priority: "normal", Force: hints.Force,
		Fingerprint: id, MaxAttempts: 9, Worker: "w", Lease: 0, RequestedBy: "user-17",
		Source: store.Source{MessageID: fmt.Sprint(id, time.Now()), InsertedAt: time.Now().Add(time.Hour)},
	})
	if err != nil || begun.Decision != store.Run {
		b.Fatalf("begin: %v, %v", begun.Decision, err)
	}
	return handlers.Call{
		Task:   task.Task{ID: id, Type: task.Summarize, Payload: json.RawMessage(payload), Hints: hints},
		Holder: store.Holder{JobID: id, Fence: begun.Fence}, Attempt: begun.Attempt, Progress: &b.model.progress,
	}
}

// result is what a webhook would say.
type result struct {
	summarize.Result
	ID string `json:"summary_id"`
}

// finish does an attempt to its end, as the engine would.
func (b *bench) finish(c handlers.Call) (r result) {
	b.Helper()
	out, err := summarize.New(b.deps).Handle(b.Context(), c)
	if err != nil {
		b.Fatalf("handle: %v", err)
	}
	raw, err := json.Marshal(out.Result)
	if err != nil {
		b.Fatal(err)
	}
	settled, err := b.store.Complete(b.Context(), store.Completion{Holder: c.Holder, Result: raw, Effects: out.Effects})
	if err != nil {
		b.Fatalf("complete: %v", err)
	}
	if err := json.Unmarshal(settled.Result, &r); err != nil || r.ID == "" {
		b.Fatalf("result %s: %v", settled.Result, err)
	}
	return r
}

func (b *bench) summarize(payload string) result {
	b.Helper()
	return b.finish(b.begin(payload, task.Hints{}))
}

// fails does an attempt that ends in an error, and returns it.
func (b *bench) fails(payload string) *taskerr.Error {
	b.Helper()
	_, err := summarize.New(b.deps).Handle(b.Context(), b.begin(payload, task.Hints{}))
	e, ok := errors.AsType[*taskerr.Error](err)
	if !ok {
		b.Fatalf("%s: got %v, want an error of the job", payload, err)
	}
	return e
}

func query[T any](b *bench, sql string) (v T) {
	b.Helper()
	conn, err := pgx.Connect(b.Context(), b.url)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(context.Background())
	if err := conn.QueryRow(b.Context(), sql).Scan(&v); err != nil {
		b.Fatalf("%s: %v", sql, err)
	}
	return v
}

// model answers as reply says.
type model struct {
	progress progress
	reply    func(q llm.Question) (llm.Answer, error)

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

// calls is how many questions were asked since the last time.
func (m *model) calls() int { return len(m.questions()) }

func (m *model) questions() []llm.Question {
	m.mu.Lock()
	defer m.mu.Unlock()
	asked := m.asked
	m.asked = nil
	return asked
}

// numbered is the line before a passage or a statement.
var numbered = regexp.MustCompile(`(?m)^§[0-9a-f]{8} \[(\d+)\].*\n`)

// parrot repeats the first words of the first passages, and cites them.
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

// reply is an answer as it should be.
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
		panic(err) // plain values
	}
	return llm.Answer{Text: string(raw), End: llm.Stopped}
}

// say is a model that gives these answers, the last of them again and again.
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

// progress remembers what was said.
type progress struct {
	mu   sync.Mutex
	said []string
}

func (p *progress) Stage(name string) error  { p.Report(0, name); return nil }
func (*progress) Checkpoint(any)             {}
func (*progress) Delta(string, bool)         {}
func (*progress) Pages(int, int)             {}
func (*progress) Save(context.Context) error { return nil }
func (p *progress) Report(_ float64, message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.said = append(p.said, message)
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

// long is a document of so many sections of about 300 tokens; edited sections say something else.
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
