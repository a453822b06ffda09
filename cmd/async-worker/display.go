package main

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// newDisplay chooses bars on a terminal, JSON lines when asked for, plain lines otherwise.
func (p *program) newDisplay(out format) display {
	switch {
	case out == asJSON:
		return &jsonLines{enc: json.NewEncoder(p.stdout)}
	case p.terminal(p.stdout):
		return newBars(p.stdout, p.colorful(p.stdout))
	default:
		return &plainLines{w: p.stdout}
	}
}

// plainLines prints a line for each event.
type plainLines struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *plainLines) event(j store.Job, e store.JobEvent) {
	l.print(e.At, j, fmt.Sprintf("%3d%%  %-18s  %s", e.Progress, e.Stage, e.Message))
}

func (l *plainLines) ended(j store.Job) {
	at := j.UpdatedAt
	if j.CompletedAt != nil {
		at = *j.CompletedAt
	}
	l.print(at, j, ending(j))
}

func (l *plainLines) print(at time.Time, j store.Job, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintln(l.w, printable(fmt.Sprintf("%s  %s  %s", at.Local().Format(time.TimeOnly), j.ID, text)))
}

func (*plainLines) close() {}

// ending says in a line how a job ended.
func ending(j store.Job) string {
	text := j.Status
	if j.StartedAt != nil && j.CompletedAt != nil {
		text += fmt.Sprintf(" after %v", j.CompletedAt.Sub(*j.StartedAt).Round(10*time.Millisecond))
	}
	if job.State(j.Status) == job.Failed {
		text += fmt.Sprintf(": %s: %s", j.ErrorCode, j.ErrorMessage)
	}
	return text
}

// jsonLines prints {"event": …} for each event and {"job": …} for each job that ended.
type jsonLines struct {
	mu  sync.Mutex
	enc *json.Encoder
}

func (l *jsonLines) event(_ store.Job, e store.JobEvent) { l.print("event", e) }
func (l *jsonLines) ended(j store.Job)                   { l.print("job", j) }
func (*jsonLines) close()                                {}

func (l *jsonLines) print(key string, value any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.enc.Encode(map[string]any{key: value}) // nobody is left to tell when the output is gone
}

// bars redraws one progress bar for each job.
type bars struct {
	progress *mpb.Progress
	color    bool

	mu   sync.Mutex
	jobs map[string]*bar
}

type bar struct {
	*mpb.Bar
	mu   sync.Mutex
	text string // stage and message, or how it ended
}

func newBars(w io.Writer, color bool) *bars {
	return &bars{
		progress: mpb.New(mpb.WithOutput(w), mpb.WithWidth(32), mpb.WithAutoRefresh(), mpb.WithRefreshRate(120*time.Millisecond)),
		color:    color, jobs: map[string]*bar{},
	}
}

func (b *bars) of(j store.Job) *bar {
	b.mu.Lock()
	defer b.mu.Unlock()
	if found, ok := b.jobs[j.ID]; ok {
		return found
	}
	one := &bar{}
	one.Bar = b.progress.AddBar(100,
		mpb.PrependDecorators(decor.Name(printable(shorten(label(j), 28)), decor.WC{W: 28, C: decor.DindentRight | decor.DextraSpace})),
		mpb.AppendDecorators(decor.Percentage(decor.WC{W: 5}), decor.Any(func(decor.Statistics) string { return "  " + one.shown() })),
	)
	b.jobs[j.ID] = one
	return one
}

func (b *bars) event(j store.Job, e store.JobEvent) {
	one := b.of(j)
	text := e.Stage
	if e.Message != "" {
		text += ": " + e.Message
	}
	one.say(shorten(printable(text), 48))
	one.SetCurrent(int64(min(e.Progress, 99))) // 100 ends a bar, and so does only ended
}

func (b *bars) ended(j store.Job) {
	one := b.of(j)
	text := printable(ending(j))
	good := job.State(j.Status) == job.Succeeded
	if b.color {
		text = paint(text, good)
	}
	one.say(text)
	if good {
		one.SetCurrent(100)
	} else {
		one.Abort(false)
	}
}

func (b *bars) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, one := range b.jobs {
		one.Abort(false) // those that were given up; the others are over already
	}
	b.progress.Wait()
}

func (b *bar) say(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = text
}

func (b *bar) shown() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text
}

func paint(text string, good bool) string {
	const red, green, reset = "\x1b[31m", "\x1b[32m", "\x1b[0m"
	if good {
		return green + text + reset
	}
	return red + text + reset
}

// label is what people know a job by: its document, or its id.
func label(j store.Job) string {
	var payload struct {
		Filename string `json:"filename"`
	}
	if json.Unmarshal(j.Payload, &payload) == nil && payload.Filename != "" {
		return payload.Filename
	}
	return j.ID
}
