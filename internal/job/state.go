// Package job holds the life of a job: its states and the moves between them, the stages of its work, and when it is
// tried again. All of it is tables in code, without I/O, so that the engine, the tests of the SQL and the documents are
// held against the same truth.
package job

// State is where a job stands.
type State string

// The states. The last three are terminal: only a new series of attempts leaves them (I3).
const (
	Pending   State = "pending"
	Running   State = "running"
	Succeeded State = "succeeded"
	Failed    State = "failed"
	Canceled  State = "canceled"
)

// Signal is what happened to a job.
type Signal string

// The signals of the state machine.
const (
	Start      Signal = "start"       // a worker took it: a new fence, one more attempt
	Success    Signal = "success"     // the handler's effect is committed
	Retryable  Signal = "retryable"   // a retryable error with attempts left: it waits its backoff
	Exhausted  Signal = "exhausted"   // a retryable error on the last attempt
	Permanent  Signal = "permanent"   // an error that a retry cannot fix
	Cancel     Signal = "cancel"      // somebody asked for it, and the work has stopped
	LeaseLost  Signal = "worker_lost" // the lease expired with attempts left: the next worker begins another one
	LeaseSpent Signal = "worker_dead" // the lease expired on the last attempt
	Released   Signal = "released"    // shutdown or drain: given back, the attempt not counted (I9)
	Forced     Signal = "forced"      // a message with hints.force, sent after the series began
	Requeued   Signal = "requeued"    // an operator requeued the failed job
)

// Transition is one legal move of the machine.
type Transition struct {
	From   State
	Signal Signal
	To     State
}

// NewSeries reports whether the move opens another series of attempts, the only way out of a terminal state.
func (t Transition) NewSeries() bool { return t.Signal == Forced || t.Signal == Requeued }

// Transitions is the whole machine; what is not in it does not happen.
var Transitions = []Transition{
	{Pending, Start, Running},
	{Pending, Cancel, Canceled},
	{Pending, Permanent, Failed}, // refused before it was started: a payload its handler can't take
	{Running, Success, Succeeded},
	{Running, Retryable, Running},
	{Running, Exhausted, Failed},
	{Running, Permanent, Failed},
	{Running, Cancel, Canceled},
	{Running, LeaseLost, Running},
	{Running, LeaseSpent, Failed},
	{Running, Released, Pending},
	{Succeeded, Forced, Running},
	{Failed, Forced, Running},
	{Canceled, Forced, Running},
	{Failed, Requeued, Pending},
}

// Next returns the state after signal, and whether the move is legal.
func (s State) Next(signal Signal) (State, bool) {
	for _, t := range Transitions {
		if t.From == s && t.Signal == signal {
			return t.To, true
		}
	}
	return s, false
}

// Terminal reports whether s ends a series of attempts: nothing but a new series leaves it.
func (s State) Terminal() bool { return s == Succeeded || s == Failed || s == Canceled }

// Wire is the name of s in webhooks and lifecycle events.
func (s State) Wire() string {
	if s == Succeeded {
		return "completed"
	}
	return string(s)
}

// IsEnd reports whether an event's stage ends a series of attempts. A later event is of another series, or reports a
// duplicate of a failed job's message.
func IsEnd(stage string) bool {
	return stage == "completed" || stage == string(Failed) || stage == string(Canceled)
}
