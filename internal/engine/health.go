package engine

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
)

// Health is a snapshot of an engine, for operators. It contains no text from outside: nothing in it can be a secret or
// part of a document.
type Health struct {
	At       time.Time `json:"at"`
	Running  int       `json:"running"` // slots in use
	Slots    int       `json:"slots"`
	Draining bool      `json:"draining"`
	// DrainOf is how many tasks ran when the drain began.
	DrainOf int `json:"drain_of,omitempty"`
	// Oldest is the start of the task that has run longest; nil: none runs.
	Oldest *time.Time `json:"oldest,omitempty"`
	// Done and Failed count the tasks that succeeded, and failed for good, since the start.
	Done   int64 `json:"done"`
	Failed int64 `json:"failed"`
	// Stuck are the loops that hang: the worker has to be restarted. See Engine.Alive.
	Stuck []StuckLoop `json:"stuck,omitempty"`
	// Store is why messages can't be begun, or lost ones can't be found; nil: they can, as far as known.
	Store *StoreHealth `json:"store,omitempty"`
	// Queues are those that are received from, in the order of their priority.
	Queues []QueueHealth `json:"queues"`
	// Dependencies are the services that tasks have needed so far, by name.
	Dependencies []DependencyHealth `json:"dependencies"`
	// Types are the task types received so far, by name.
	Types []TypeHealth `json:"types"`
}

// Trouble is a failure that lasts.
type Trouble struct {
	Since time.Time     `json:"since"` // the first failure in a row
	Class taskerr.Class `json:"error_class"`
	Hint  string        `json:"hint,omitempty"` // what to check or fix
}

// StoreHealth is since when the store fails, and how long each message waits now; zero: none had to.
type StoreHealth struct {
	Trouble
	Wait time.Duration `json:"wait_ns"`
}

// Refuses reports whether the database answers but refuses the worker, which an operator has to fix.
func (s StoreHealth) Refuses() bool { return s.Class == taskerr.DependencyUnavailable }

// QueueHealth is the state of receiving from a queue.
type QueueHealth struct {
	Name    string   `json:"name"`
	Trouble *Trouble `json:"trouble,omitempty"` // of the last receive; nil: it succeeded
}

// DependencyHealth is the state of a circuit breaker.
type DependencyHealth struct {
	Name    taskerr.Dependency `json:"name"`
	State   string             `json:"state"` // closed: up; open: down; half-open: being tried
	Since   time.Time          `json:"since"` // when it went down, or came back
	Trouble *Trouble           `json:"trouble,omitempty"`
}

// Down reports whether tasks that need the dependency wait.
func (d DependencyHealth) Down() bool { return d.State != "closed" }

// TypeHealth is how many tasks of a type run and may run, and the result of the last attempt.
type TypeHealth struct {
	Type    task.Type `json:"type"`
	Running int       `json:"running"`
	Limit   int       `json:"limit"`             // the number of slots unless many attempts failed
	Trouble *Trouble  `json:"trouble,omitempty"` // of the last attempt that counts; nil: it succeeded
}

// Health returns a snapshot. It is cheap, makes no calls, and may be called at any time.
func (e *Engine) Health() Health {
	h := Health{
		At: time.Now(), Running: e.slots.running(), Slots: e.tuning().Concurrency, Draining: e.draining.Load(),
		Store: e.throttle.store.health(), Dependencies: e.breakers.health(), Types: e.limits.health(),
		DrainOf: int(e.tally.draining.Load()), Done: e.tally.done.Load(), Failed: e.tally.failed.Load(),
		Stuck: e.watchdog.stuck(),
	}
	if since, some := e.watch.oldest(); some {
		h.Oldest = &since
	}
	for _, q := range []queue.Queue{e.deps.Queues.High, e.deps.Queues.Normal, e.deps.Queues.Low} {
		h.Queues = append(h.Queues, QueueHealth{Name: q.Name(), Trouble: e.queueTroubles.trouble(q.Name())})
	}
	return h
}

func (l *limits) health() []TypeHealth {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]TypeHealth, 0, len(l.by))
	for t := range l.by {
		limit := l.of(t)
		all = append(all, TypeHealth{Type: t, Running: limit.running, Limit: limit.now, Trouble: limit.trouble})
	}
	slices.SortFunc(all, func(a, b TypeHealth) int { return cmp.Compare(a.Type, b.Type) })
	return all
}

// again is the trouble after another failure. Troubles are immutable: snapshots share them.
func (t *Trouble) again(now time.Time, class taskerr.Class, hint string) *Trouble {
	next := &Trouble{Since: now, Class: class, Hint: hint}
	if t != nil {
		next.Since = t.Since
	}
	return next
}

// hint is what to check after a failure: the failure's own hint, or one that follows from its class.
func hint(failure *taskerr.Error) string {
	if failure.Hint != "" {
		return failure.Hint
	}
	switch failure.Class {
	case taskerr.AIRateLimit:
		return "raise the rate limit of the model's account, or lower WORKER_CONCURRENCY"
	case taskerr.ModelOverloaded:
		return "the model's service is overloaded: see its status page; waiting may help"
	case taskerr.DependencyUnavailable:
		return "a service fails, or refuses the worker; the log has its error: check its state, " +
			"its address and its credentials"
	case taskerr.TransientStorage:
		return "the storage account, the database or this machine's disk fails: the log says which; " +
			"waiting may help"
	case taskerr.NetworkTimeout:
		return "a service does not answer: check the network, a firewall, its load"
	case taskerr.Timeout:
		return "tasks take longer than TASK_TIMEOUT_SEC: raise it, or give them more processor or memory, or lower " +
			"WORKER_CONCURRENCY"
	case taskerr.InternalBug:
		return "a bug in the worker: report it with the stack from the log"
	default:
		return ""
	}
}

// queueTrouble classifies the error of a receive.
func queueTrouble(err error) (taskerr.Class, string) {
	if errors.Is(err, queue.ErrNotFound) {
		return taskerr.DependencyUnavailable,
			"somebody deleted the queue: it is created again, the messages that were in it are gone"
	}
	if errors.Is(err, queue.ErrDenied) {
		return taskerr.DependencyUnavailable, "the queues' service refuses the worker: check the key or login in the " +
			"settings, and what it may do; a new secret needs a restart"
	}
	if errors.Is(err, queue.ErrSetting) {
		return taskerr.DependencyUnavailable, "the queues can't be used as they are set up: the log says what to change"
	}
	failure := taskerr.Classify(err)
	return failure.Class, hint(failure)
}
