package simulation

import (
	"math/rand/v2"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

const client = "acme"

// waitMax is how long a task waits for a service that is down: two consecutive series of a job end within
// endsWithin.
const waitMax = 4 * time.Hour

// plan is a whole schedule, drawn before it begins.
type plan struct {
	active  time.Duration // until the faults end
	odds    odds
	zombies int // in a hundred attempts: the worker is stopped during it
	slots   []workerSlot
	acts    []act
	outages []outage
}

// odds are how many calls in a thousand have each fault.
type odds map[fault]int

// workerSlot runs workers, one after another; the last one is healthy and stays until all is done.
type workerSlot struct {
	lives []workerLife
	last  workerLife
}

// workerLife is the life of one worker.
type workerLife struct {
	after  time.Duration // since the previous one ended
	lasts  time.Duration
	ends   string // crash, drain or abort
	pauses []span // it is stopped, and continues with its old state
	blind  bool   // it has no probe of the model
	cfg    engine.Config
}

// span is a period, counted from the start of what it is part of.
type span struct{ after, lasts time.Duration }

// outage is a back end that is down.
type outage struct {
	backend string
	span
	how fault
}

// drawer draws from a schedule's seed.
type drawer struct{ *rand.Rand }

func newDrawer(seed uint64) drawer { return drawer{rand.New(rand.NewPCG(seed, 7))} }

// chance is true n times in a hundred.
func (d drawer) chance(n int) bool { return d.IntN(100) < n }

// upTo is uniform.
func (d drawer) between(least, most time.Duration) time.Duration {
	return least + time.Duration(d.Int64N(int64(most-least)+1))
}

// short is mostly near least, seldom near most.
func (d drawer) short(least, most time.Duration) time.Duration {
	f := d.Float64()
	return least + time.Duration(f*f*f*float64(most-least))
}

func pick[T any](d drawer, of ...T) T { return of[d.IntN(len(of))] }

func newPlan(seed uint64) plan {
	d := newDrawer(seed)
	p := plan{active: d.short(time.Hour, 6*time.Hour), odds: odds{}}
	if !d.chance(15) { // some schedules have no faults of single calls
		scale := pick(d, 1, 3, 10)
		for _, f := range faults {
			p.odds[f] = d.IntN(4) * scale
		}
		p.zombies = pick(d, 0, 5, 15)
	}
	for range 1 + d.IntN(3) {
		p.slots = append(p.slots, d.workerSlot(p.active))
	}
	p.acts = d.acts(p.active)
	for _, backend := range []string{onStore, onQueue, onModel, onBucket} {
		for range d.IntN(3) {
			p.outages = append(p.outages, outage{
				backend,
				span{d.between(0, p.active), d.short(time.Second, 40*time.Minute)},
				pick(d, errorBefore, errorBefore, hangs, errorAfter, hangsAfter),
			})
		}
	}
	return p
}

func (d drawer) workerSlot(active time.Duration) workerSlot {
	s := workerSlot{last: d.workerLife(0)}
	s.last.after = d.short(0, 10*time.Minute)
	for at := time.Duration(0); ; {
		st := d.workerLife(active)
		s.lives = append(s.lives, st)
		at += st.after + st.lasts
		if at >= active {
			return s
		}
	}
}

func (d drawer) workerLife(active time.Duration) workerLife {
	st := workerLife{
		after: d.short(0, 20*time.Minute), lasts: d.short(time.Second, max(active, time.Minute)),
		ends: pick(d, "crash", "crash", "drain", "abort"),
		cfg: engine.Config{
			ClientID: client, Concurrency: 1 + d.IntN(8), Lease: d.between(10*time.Second, 2*time.Minute).
					Truncate(time.Second),
			PollMin: d.short(100*time.Millisecond, 5*time.Second), PollMax: d.between(10*time.Second, 4*time.Minute),
			TaskTimeout: d.between(10*time.Minute, time.Hour), WaitMax: waitMax,
			DrainMax: pick(d, 0, d.short(0, 5*time.Minute)),
		},
	}
	if d.chance(30) {
		st.cfg.MaxAttempts = 1 + d.IntN(5)
	}
	if d.chance(30) {
		st.cfg.Backoff = d.short(10*time.Millisecond, 2*time.Minute)
	}
	st.blind = d.chance(25)
	for d.chance(40) {
		st.pauses = append(st.pauses, span{d.between(0, st.lasts), d.between(time.Second, 3*st.cfg.Lease)})
	}
	return st
}

// act is an action from outside: sends a message, submits a task, requests a cancel.
type act struct {
	at      time.Duration
	what    string // send, submit or cancel
	id      string
	text    string // of a message
	queue   task.Priority
	task    task.Task // of a submission
	dies    int       // the submitter ends after this many calls; 0: it does not
	retries int       // of a submission that failed
}
