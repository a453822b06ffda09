package simulation

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/store"
	storememory "github.com/seed-7227ef26/async-worker/internal/store/memory"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/queue"
	queuememory "github.com/seed-7227ef26/async-worker/queue/memory"
)

// Limits of the time until nothing is left to do once the faults have ended, and until a worker has drained. Both
// are far beyond the longest wait of the engine.
const (
	patience   = 24 * time.Hour
	endsWithin = 12 * time.Hour // I11: every accepted task has ended, whatever it does to the services
	endingTime = 4 * time.Hour
)

// world is one schedule: back ends in memory and the processes that use them.
type world struct {
	seed  uint64
	plan  plan
	began time.Time
	tally *tally

	mu        sync.Mutex // held during a call, so that its effect can be observed
	store     *storememory.Jobs
	jobs      store.Jobs // store, unless a test breaks something
	hasty     bool       // broken: messages are deleted as they are received
	service   *queuememory.Service
	queues    engine.Queues
	blobs     map[string]string
	documents map[string]store.Holder // who has a document
	modelDown time.Time               // until then a task keeps the model down
	storeDown time.Time               // likewise the store
	failed    map[string]int          // calls of flaky handlers, by job
	meanings  map[string]meaning
	lines     map[string]*line
	book      *book

	traceMu sync.Mutex
	trace   []entry
	found   []finding
}

// entry is a line of the trace.
type entry struct {
	at            time.Duration
	who, on, what string
	fault         fault
	err           error
}

// finding is a violation.
type finding struct{ on, what string }

func newWorld(seed uint64, p plan, t *tally) *world {
	w := &world{
		seed: seed, plan: p, began: time.Now(), tally: t, store: storememory.New(),
		service: queuememory.New(queuememory.Options{}),
		blobs:   map[string]string{}, documents: map[string]store.Holder{}, failed: map[string]int{},
		meanings: map[string]meaning{}, lines: map[string]*line{},
	}
	w.book, w.jobs = newBook(w), w.store
	w.store.OnEffect = w.apply
	names := task.QueueNames(client)
	w.queues = engine.Queues{
		High: w.service.Queue(names.High), Normal: w.service.Queue(names.Normal), Low: w.service.Queue(names.Low),
		DeadLetter: w.service.Queue(names.DeadLetter),
	}
	for _, q := range []queue.Queue{w.queues.High, w.queues.Normal, w.queues.Low, w.queues.DeadLetter} {
		_ = must(nothing{}, q.Ensure(context.Background()))
	}
	return w
}

// run runs a schedule. It is called inside a bubble.
func (w *world) run() {
	finish := make(chan struct{})
	var workers, outside sync.WaitGroup
	for i, s := range w.plan.slots {
		workers.Go(func() { w.runSlot(fmt.Sprintf("w%d", i+1), s, finish) })
	}
	for i, a := range w.plan.acts {
		outside.Go(func() {
			time.Sleep(a.at)
			w.act(fmt.Sprintf("c%d", i+1), a)
		})
	}
	outside.Wait()
	time.Sleep(max(0, w.plan.active-time.Since(w.began)))
	w.note("", "", "the faults have ended", none, nil)
	calm := time.Now()
	for ; time.Since(calm) < patience; time.Sleep(time.Minute) {
		if _, what := w.pending(); what == "" {
			break
		}
	}
	if took := time.Since(calm); took > endsWithin {
		w.violated("", "I11: the last task ended %v after the faults", took)
	}
	w.tally.calmed(time.Since(calm))
	close(finish)
	workers.Wait()
	synctest.Wait()
	w.check()
	w.tally.mu.Lock()
	defer w.tally.mu.Unlock()
	w.tally.Schedules++
	w.tally.virtual += time.Since(w.began)
	w.tally.Calls += len(w.trace)
}

// note adds a line to the trace, also for calls without error.
func (w *world) note(who, on, what string, f fault, err error) {
	w.traceMu.Lock()
	defer w.traceMu.Unlock()
	w.trace = append(w.trace, entry{time.Since(w.began), who, on, what, f, err})
}

// violated records a violation.
func (w *world) violated(on, format string, args ...any) {
	w.traceMu.Lock()
	defer w.traceMu.Unlock()
	f := finding{on, fmt.Sprintf(format, args...)}
	if on != "" {
		f.what = "job " + on + ": " + f.what
	}
	w.found = append(w.found, f)
	w.trace = append(w.trace, entry{time.Since(w.began), "", on, "VIOLATION " + f.what, none, nil})
}

// story is the end of the trace up to the first violation: the lines about its job and the job's messages, and the
// last lines of all others.
func (w *world) story() string {
	on, end := "", len(w.trace)
	if len(w.found) > 0 {
		on = w.found[0].on
	}
	for i, e := range w.trace {
		if strings.HasPrefix(e.what, "VIOLATION") {
			end = i + 1
			break
		}
	}
	about := map[string]bool{on: on != ""}
	for _, s := range w.book.sent {
		about[s.id] = on != "" && w.means(s.text).task.ID == on
	}
	var lines []string
	for i, e := range w.trace[:end] {
		if about[e.on] || i > end-20 || (e.who == "" && e.on == "") {
			lines = append(lines, e.String())
		}
	}
	return strings.Join(lines[max(0, len(lines)-150):], "\n")
}

func (e entry) String() string {
	s := fmt.Sprintf("%14v %-6s %-10s %s", e.at.Round(time.Millisecond), e.who, e.on, e.what)
	if e.fault != none {
		s += " [" + string(e.fault) + "]"
	}
	if e.err != nil {
		s += ": " + e.err.Error()
	}
	return s
}
