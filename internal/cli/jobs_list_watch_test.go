package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// watchList lists in a goroutine of the bubble; the returned function interrupts it and returns its error.
func watchList(ctx context.Context, r store.Reader, f store.JobFilter, d listDisplay) (interrupt func() error) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- newListWatch(r, f).run(ctx, d) }()
	return func() error {
		cancel()
		return <-ended
	}
}

// paper is what a goroutine writes on and another reads: the race detector does not know that a bubble's clock orders
// them.
type paper struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (p *paper) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *paper) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// Reset forgets what was written.
func (p *paper) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text.Reset()
}

// next allows one more poll of the list, and returns what it printed.
func next(out *paper) string {
	out.Reset()
	time.Sleep(2200 * time.Millisecond) // the longest wait, in the bubble's time
	synctest.Wait()
	return out.String()
}

// Elsewhere than on a terminal the list is followed by a line for what changed, and by nothing for what did not.
func TestListWatchPrintsWhatChanged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, out := watched("a", "b"), &paper{}
		interrupt := watchList(t.Context(), r, store.JobFilter{Limit: 50}, jobLog{out})
		synctest.Wait()
		if lines := strings.Split(out.String(), "\n"); len(lines) != 4 || !strings.HasPrefix(lines[0], "ID ") ||
			!strings.HasPrefix(lines[1], "a ") {
			t.Errorf("the list: %q", out.String())
		}
		if got := next(out); got != "" {
			t.Errorf("nothing changed, and it prints %q", got)
		}
		r.edit("b", func(j *store.Job) { j.UpdatedAt = time.Now() })
		if got := next(out); got != "" {
			t.Errorf("a heartbeat is not a change, but it prints %q", got)
		}
		r.edit("b", func(j *store.Job) { j.Status, j.Stage, j.Progress = "running", "parsing", 12 })
		r.put(store.Job{ID: "c", Type: "ocr", Status: "failed", ErrorMessage: "broken \x1b[31mfile"})
		got := next(out)
		if !regexp.MustCompile(`^\d\d:\d\d:\d\d  b  ingest  parsing  12%  0/0\n\d\d:\d\d:\d\d  c  ocr  failed .*\n    broken \[31mfile\n$`).MatchString(got) {
			t.Errorf("prints %q", got)
		}
		if v := verdictOf(interrupt()); v.code != exitInterrupted || v.next != "" {
			t.Errorf("interrupted: %+v", v)
		}
	})
}

// A job that leaves the filter's state is shown once more; one that newer jobs push off the list is not.
func TestListWatchOfAState(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, out := watched("a", "b"), &paper{}
		interrupt := watchList(t.Context(), r, store.JobFilter{Status: "pending", Limit: 50}, jobLines{out})
		synctest.Wait()
		if got := ids(t, out.String()); got != "b a" {
			t.Errorf("at first: %q, want the oldest first", got)
		}
		r.edit("a", func(j *store.Job) { j.Status = "succeeded" })
		got := next(out)
		if ids(t, got) != "a" || !strings.Contains(got, `"succeeded"`) {
			t.Errorf("prints %q", got)
		}
		if got := next(out); got != "" {
			t.Errorf("once more: %q", got)
		}
		r.hide("b")
		if got := next(out); got != "" {
			t.Errorf("pushed off the list: %q", got)
		}
		_ = interrupt()
	})
}

func ids(t *testing.T, lines string) string {
	t.Helper()
	var all []string
	for line := range strings.Lines(lines) {
		var j store.Job
		if err := json.Unmarshal([]byte(line), &j); err != nil {
			t.Errorf("%q: %v", line, err)
		}
		all = append(all, j.ID)
	}
	return strings.Join(all, " ")
}

// An outage of the database ends no watch unless it lasts, or was there at the first look.
func TestListWatchBearsTroubleForAWhile(t *testing.T) {
	t.Parallel()
	trouble := taskerr.Errorf(taskerr.TransientStorage, "connection refused")
	synctest.Test(t, func(t *testing.T) {
		r, out := watched("a"), &paper{}
		if err := newListWatch(&rows{fail: trouble}, store.JobFilter{}).run(t.Context(), jobLog{out}); !errors.Is(err,
			trouble) || out.String() != "" {
			t.Errorf("at first: %v, %q", err, out.String())
		}
		ended := make(chan error, 1)
		go func() { ended <- newListWatch(r, store.JobFilter{}).run(t.Context(), jobLog{out}) }()
		synctest.Wait()
		r.refuse(trouble, 5)
		time.Sleep(time.Minute)
		r.edit("a", func(j *store.Job) { j.Status = "running" })
		if got := next(out); !strings.Contains(got, "running") {
			t.Errorf("after the trouble: %q", got)
		}
		r.refuse(trouble, 0)
		if err := <-ended; !errors.Is(err, trouble) {
			t.Errorf("ended with %v", err)
		}
	})
}

// On a terminal the list is drawn again as far as there is room, in lines that fit.
func TestListOnAScreen(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := jobScreen{&out, func() (int, int) { return 40, 4 }}
	if err := s.list(someRows().jobs); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	if len(lines) != 4 || !strings.HasPrefix(lines[0], "\x1b[H\x1b[2JID") || !strings.HasPrefix(lines[1], "good") ||
		lines[2] != "… and more: jobs list shows all" {
		t.Errorf("drawn: %q", lines)
	}
	for _, line := range lines {
		if n := len([]rune(strings.TrimPrefix(line, "\x1b[H\x1b[2J"))); n > 40 {
			t.Errorf("%d columns: %q", n, line)
		}
	}
}

// The command ends with Ctrl-C and prints only that.
func TestJobsListWatch(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	printed := make(chan string, 10)
	var errOut bytes.Buffer
	p := &program{
		env: testEnv(), stdin: strings.NewReader(""),
		stdout: writerFunc(func(b []byte) { printed <- string(b) }), stderr: &errOut,
		open: func(_ context.Context, cfg config.Config, _ *slog.Logger, _ app.Needs) (*app.Tenant, error) {
			return &app.Tenant{Config: cfg, Store: someRows()}, nil
		},
	}
	code := make(chan int, 1)
	go func() { code <- p.run(ctx, []string{"jobs", "list", "--status", "failed", "--watch", "-o", "json"}) }()
	if got := ids(t, <-printed); got != "bad" {
		t.Errorf("lists %q", got)
	}
	cancel()
	if got := <-code; got != exitInterrupted || errOut.String() != "async-worker: interrupted\n" {
		t.Errorf("ends with %d and says %q", got, errOut.String())
	}
}
