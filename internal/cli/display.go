package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-runewidth"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/logging"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// newDisplay returns JSON lines for -o json, bars on a terminal, plain lines otherwise.
func (p *program) newDisplay(out format) display {
	switch {
	case out == asJSON:
		return &jsonLines{enc: json.NewEncoder(logging.Escaped(p.stdout))}
	case p.terminal(p.stdout):
		const width = 32 // of a bar alone
		return newBars(p.stdout, p.colorful(p.stdout), width)
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
	l.print(e.At, j, fmt.Sprintf("%3d%%  %-18s  ", e.Progress, e.Stage), eventText(e))
}

func (l *plainLines) ended(j store.Job) {
	at := j.UpdatedAt
	if j.CompletedAt != nil {
		at = *j.CompletedAt
	}
	l.print(at, j, "", ending(j))
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range answerOf(j) {
		printIndented(l.w, line)
	}
}

func (l *plainLines) print(at time.Time, j store.Job, mark, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	printWrapped(l.w, printable(fmt.Sprintf("%s  %s  %s", at.Local().Format(time.TimeOnly), j.ID, mark)),
		printable(text))
}

func (*plainLines) close() {}

// ending describes in a line how a job ended.
func ending(j store.Job) string {
	text := j.Status
	if j.StartedAt != nil && j.CompletedAt != nil {
		text += fmt.Sprintf(" after %v", j.CompletedAt.Sub(*j.StartedAt).Round(time.Millisecond))
	}
	if w := warnings(j); len(w) > 0 {
		text += ", but: " + strings.Join(w, "; ")
	}
	if job.State(j.Status) == job.Failed {
		text += fmt.Sprintf(": %s: %s", j.ErrorCode, j.ErrorMessage)
	}
	return text
}

// jsonLines prints {"event": …} for each event and {"job": …} for each finished job.
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
	_ = l.enc.Encode(map[string]any{key: value}) // nothing can be done when the output is gone
}

// bars redraws one progress bar for each job.
type bars struct {
	w        io.Writer
	progress *mpb.Progress
	color    bool

	mu   sync.Mutex
	jobs map[string]*bar
	rest []string // lines that don't fit beside a bar, for the end
}

type bar struct {
	*mpb.Bar
	mu       sync.Mutex
	text     string // stage and message, or how it ended
	streamed string // the streamed text so far
	color    string // escape sequence; empty: none
}

// barRoom is the space reserved for the bar itself, in columns.
const barRoom = 18

// newBars draws on w. If w is not a terminal, width is that of a whole line.
func newBars(w io.Writer, color bool, width int) *bars {
	return &bars{
		w: w,
		progress: mpb.New(mpb.WithOutput(w), mpb.WithWidth(width), mpb.WithAutoRefresh(),
			mpb.WithRefreshRate(120*time.Millisecond)),
		color: color, jobs: map[string]*bar{},
	}
}

func (b *bars) of(j store.Job) *bar {
	b.mu.Lock()
	defer b.mu.Unlock()
	if found, ok := b.jobs[j.ID]; ok {
		return found
	}
	one := &bar{}
	name := runewidth.Truncate(printable(label(j)), 24, "…")
	one.Bar = b.progress.AddBar(100,
		mpb.PrependDecorators(decor.Name(name, decor.WC{W: 24, C: decor.DindentRight | decor.DextraSpace})),
		mpb.AppendDecorators(decor.Percentage(decor.WC{W: 5}),
			decor.Any(func(s decor.Statistics) string { return one.shown(s.AvailableWidth - barRoom) })),
	)
	b.jobs[j.ID] = one
	return one
}

func (b *bars) event(j store.Job, e store.JobEvent) {
	one := b.of(j)
	one.say(one.update(e), "")
	one.SetCurrent(int64(min(e.Progress, 99))) // 100 ends a bar: only ended sets it
}

func (b *bars) ended(j store.Job) {
	const red, green = "\x1b[31m", "\x1b[32m"
	one := b.of(j)
	good := job.State(j.Status) == job.Succeeded
	color := red
	if good {
		color = green
	}
	if !b.color {
		color = ""
	}
	one.say(ending(j), color)
	b.mu.Lock()
	defer b.mu.Unlock()
	if good {
		one.SetCurrent(100)
		if len(warnings(j)) > 0 {
			b.rest = append(b.rest, printable(label(j)+" "+ending(j)))
		}
		b.rest = append(b.rest, answerOf(j)...)
		return
	}
	one.Abort(false)
	b.rest = append(b.rest, printable(j.ID+" "+ending(j)))
}

func (b *bars) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, one := range b.jobs {
		one.Abort(false) // unfinished bars; finished ones ignore it
	}
	b.progress.Wait()
	for _, line := range b.rest {
		printIndented(b.w, line)
	}
}

func (b *bar) say(text, color string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text, b.color = printable(text), color
}

// shown is the text, truncated to width columns.
func (b *bar) shown(width int) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := "  " + runewidth.Truncate(b.text, max(width-2, 12), "…")
	if b.color != "" {
		const reset = "\x1b[0m"
		text = b.color + text + reset
	}
	return text
}

// label is the name of a job for people: its document, or its id.
func label(j store.Job) string { return cmp.Or(documentOf(j), j.ID) }

// documentOf is the name of a job's document; empty: none.
func documentOf(j store.Job) string {
	var payload struct {
		Filename string `json:"filename"`
		Blob     string `json:"blob"`
		Source   string `json:"source_uri"`
		Prefix   string `json:"prefix"`
	}
	if json.Unmarshal(j.Payload, &payload) != nil {
		return ""
	}
	return cmp.Or(payload.Filename, payload.Blob, task.RedactSource(payload.Source), payload.Prefix)
}
