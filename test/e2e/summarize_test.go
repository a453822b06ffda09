package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
	"github.com/seed-7227ef26/async-worker/test/reindex"
)

// summarize is the message of a summarize task, as a frontend writes it.
func (b *bed) summarize(id, filename string, payload map[string]any) string {
	b.t.Helper()
	if payload == nil {
		payload = map[string]any{}
	}
	payload["filename"] = filename
	text, err := json.Marshal(map[string]any{
		"task_id": id, "task_type": "summarize", "webhook_url": b.hooks.URL, "payload": payload,
		"requested_by": "user-17",
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return string(text)
}

// TestSummarizeOffline: without a model a summary consists of sentences of the document, and a note; a forced task
// writes another row, once, and what can't be done is refused.
func TestSummarizeOffline(t *testing.T) {
	t.Parallel()
	b := newBed(t, "LLM_PROVIDER=offline")
	b.plain = true // it weighs each sentence
	b.start()
	b.upload("log.md", longDocument())
	b.send(b.summarize("offline", "log.md", map[string]any{"style": "bullets", "max_words": 60}))
	got := b.await(b.ctx, "offline")
	points, _ := got.Result["key_points"].([]any)
	if got.Type != "task.completed" || got.Result["extractive"] != true ||
		!strings.HasPrefix(fmt.Sprint(got.Result["model"]), "offline") ||
		!strings.HasPrefix(fmt.Sprint(got.Result["summary"]), "- ") || got.Result["words"].(float64) > 60 ||
		len(points) == 0 {
		t.Errorf("the webhook is %+v", got)
	}
	expect(b, "the row", "log.md user-17 t 1",
		"select concat_ws(' ', filename, requested_by, extractive, count(*) over ()) from summaries where id::text = $1",
		got.Result["summary_id"])
	forced := strings.Replace(b.summarize("offline", "log.md", map[string]any{"style": "bullets", "max_words": 60}),
		"{", `{"hints":{"force":true},`, 1)
	b.send(forced)
	settle(b, "the forced task", "select count(*) = 2 and (select status = 'succeeded' from jobs) from summaries")
	b.send(b.summarize("bad", "log.md", map[string]any{"style": "poem"}))
	if got := b.await(b.ctx, "bad"); got.Type != "task.failed" ||
		!strings.Contains(got.Error.Message, "payload.style") {
		t.Errorf("an unknown style: %+v", got)
	}
}

// summaryModel is a model that numbers its answers, so that a stored answer can be identified.
type summaryModel struct {
	mu      sync.Mutex
	answers int
	asked   map[string]int    // how often, by question
	of      map[string]string // the question, by what was answered
	watch   func(answers int)
}

// passages are the headings of a question's passages.
var passages = regexp.MustCompile(`(?m)^§[0-9a-f]{8} \[\d+\] under: (.*)$`)

func (c *summaryModel) reply(r llmtest.ChatRequest) llmtest.Reply {
	c.mu.Lock()
	c.answers++
	n := c.answers
	question := r.System() + r.Last().Text
	c.asked[question]++
	answer := fmt.Sprintf("Answer number %d.", n)
	c.of[answer] = question
	watch := c.watch
	c.mu.Unlock()
	if watch != nil {
		watch(n)
	}
	raw, err := json.Marshal(map[string]any{"summary": answer, "key_points": []any{
		map[string]any{"text": "The first thing is said.", "sources": []int{1}},
		map[string]any{"text": "So is another.", "sources": []int{2, 1}},
	}})
	if err != nil {
		panic(err) // plain values
	}
	return llmtest.Reply{Text: string(raw)}
}

// questions are those that were asked, with how often.
func (c *summaryModel) questions() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.asked)
}

// at calls f once, with the answer of that number.
func (c *summaryModel) at(number int, f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var once sync.Once
	c.watch = func(n int) {
		if n >= number {
			once.Do(f)
		}
	}
}

// kept are the questions whose answers the store has.
func (b *bed) kept(c *summaryModel) map[string]bool {
	b.t.Helper()
	conn, err := pgx.Connect(b.ctx, b.database)
	if err != nil {
		b.t.Fatal(err)
	}
	defer conn.Close(b.ctx)
	rows, err := conn.Query(b.ctx, "select answer ->> 'summary' from partials")
	if err != nil {
		b.t.Fatal(err)
	}
	answers, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		b.t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[string]bool{}
	for _, a := range answers {
		all[c.of[a]] = true
	}
	return all
}

// TestSummaryOfALongDocument: 300 pages are summarized by sections, a few calls at a time; killed with -9 ten times
// at random, the worker repeats no question whose answer was stored; and after an edit of one section it asks only
// that section's path to the root.
func TestSummaryOfALongDocument(t *testing.T) {
	t.Parallel()
	const atATime, parts, kills = 4, 75, 10
	c := &summaryModel{asked: map[string]int{}, of: map[string]string{}}
	model := llmtest.New(t, llmtest.Options{Reply: c.reply})
	b := newBed(t, append(modelEnv(model), "RETRY_MAX_ATTEMPTS=30")...)
	built(t, plainProgram)
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute) // as many workers read 300 pages
	defer cancel()
	b.ctx, b.plain = ctx, true // each start reads 300 pages
	book := reindex.NewBookOf(1, parts)
	b.upload("book.pdf", book.PDF("first"))
	message := b.summarize("long", "book.pdf", nil)

	moments := make([]int, kills) // of the answers; there are about 75 sections
	for i := range moments {
		moments[i] = 1 + rand.IntN(80)
	}
	slices.Sort(moments)
	frozen := map[string]int{} // how often questions with stored answers were asked
	atRisk := 0                // answers that had come, or were known to be under way, when the worker died
	for _, moment := range moments {
		reached, killed := make(chan struct{}), make(chan struct{})
		free := sync.OnceFunc(func() { close(killed) })
		t.Cleanup(free)
		c.at(moment, func() { close(reached); <-killed }) // it must not end before it is killed
		w := b.start()
		b.send(message)
		select {
		case <-reached:
		case <-b.ctx.Done():
			t.Fatalf("the model was not asked %d times", moment)
		}
		if err := w.Stop(syscall.SIGKILL, time.Minute); err != nil {
			t.Fatal(err)
		}
		free()
		asked := c.questions()
		repeats(t, frozen, asked)
		for q := range b.kept(c) {
			if _, known := frozen[q]; !known {
				frozen[q] = asked[q]
			}
		}
		query[int](b, "with gone as (update jobs set lease_expires_at = now() - interval '1 s' where id = 'long' "+
			"returning 1) select count(*) from gone")
		// counted last: a request may reach the model after its sender's death
		atRisk += len(c.questions()) - len(frozen)
	}
	c.at(1<<30, nil)
	b.start()
	b.send(message)
	got := b.await(b.ctx, "long")
	repeats(t, frozen, c.questions())
	total, questions := 0, c.questions()
	for _, n := range questions {
		total += n
	}
	points, _ := got.Result["key_points"].([]any)
	if got.Type != "task.completed" || got.Result["pages"].(float64) < 290 ||
		int(got.Result["parts"].(float64)) != len(questions) || len(points) == 0 {
		t.Errorf("the webhook is %+v", got)
	}
	if pages, _ := points[0].(map[string]any)["pages"].([]any); len(pages) == 0 {
		t.Errorf("the first key point cites no page: %v", points[0])
	}
	if again := total - len(questions); again > kills*atATime || again > atRisk {
		t.Errorf("%d questions were asked again", again)
	}
	if model.Peak() > atATime || model.Peak() < 2 {
		t.Errorf("%d calls at a time, want at most %d", model.Peak(), atATime)
	}
	t.Logf("%v pages in %d calls, %v + %v tokens; %d kills after answers %v: %d questions were asked again; %d "+
		"answers were seen under way when the worker died",
		got.Result["pages"], len(questions), got.Result["prompt_tokens"], got.Result["completion_tokens"], kills,
		moments, total-len(questions), atRisk)
	expect(b, "rows", 1, "select count(*) from summaries")
	b.editOneSection(c, book)
}

// repeats fails for questions that were asked again although their answers were stored.
func repeats(t *testing.T, frozen, asked map[string]int) {
	t.Helper()
	for q, n := range frozen {
		if asked[q] != n {
			t.Errorf("a question with a stored answer was asked again: %.200s", q)
		}
	}
}

// editOneSection changes a paragraph and checks the cost of that.
func (b *bed) editOneSection(c *summaryModel, book reindex.Book) {
	b.t.Helper()
	before := c.questions()
	b.upload("book.pdf", reindex.Edits[0].Make(book).PDF("second"))
	b.send(b.summarize("edited", "book.pdf", nil))
	got := b.await(b.ctx, "edited")
	levels, headings := map[string]int{}, map[string]bool{}
	for q, n := range c.questions() {
		if n == before[q] {
			continue
		}
		kind, _, _ := strings.Cut(q, "\n")
		levels[kind]++
		if strings.Contains(kind, "a section of") {
			for _, m := range passages.FindAllStringSubmatch(q, -1) {
				headings[m[1]] = true
			}
		}
	}
	b.t.Logf("an edit cost %v: %v + %v tokens", levels, got.Result["prompt_tokens"], got.Result["completion_tokens"])
	if got.Type != "task.completed" || len(levels) != 3 || len(headings) != 1 {
		b.t.Errorf("the edited section's path to the root is %v, on %v: %+v", levels, headings, got)
	}
	for kind, n := range levels {
		if n > 2 {
			b.t.Errorf("%d of %s", n, kind)
		}
	}
}
