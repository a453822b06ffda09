package store

import "time"

// SweepAges are the ages, by the database's clock, from which on a sweep finds a job.
type SweepAges struct {
	// UnsentFor is the age of a message that was never marked sent.
	UnsentFor time.Duration
	// StalledFor is the time since a job should have been begun again: since its lease ended, its retry was due, or it
	// was released.
	StalledFor time.Duration
	// UnstartedFor is the same for a job that was sent and never begun: it may be waiting in a long queue.
	UnstartedFor time.Duration
	// AgainAfter is the least time between two messages that sweeps send for a job.
	AgainAfter time.Duration
	// SkipQueues are queues whose unsent messages are not wanted.
	SkipQueues []string
	// OnlyUnsent leaves out the stalled jobs: finding them costs a look at all that have not ended.
	OnlyUnsent bool
	// After is the last stalled job of the page before; zero: from the first on.
	After Mark
}

// Mark is the place of a stalled job in the order of a sweep.
type Mark struct {
	Since time.Time `json:"since"`
	JobID string    `json:"job_id"`
}

// SweepAnswer is the result of a sweep.
type SweepAnswer struct {
	Unsent  []Unsent  `json:"unsent"`
	Stalled []Stalled `json:"stalled"`
	// DueIn is the time until the next job that waits for its time is due, and Unsent; zero: there is none.
	DueIn time.Duration `json:"-"`
}

// Unsent is a message that was recorded and not sent, as far as the store knows.
type Unsent struct {
	JobID   string    `json:"job_id"`
	Queue   string    `json:"queue"`
	Message string    `json:"message"`
	Since   time.Time `json:"since"` // it was to be sent then; of one job, another message has another
}

// Stalled is a job whose message should have come long ago.
type Stalled struct {
	Recorded
	Fingerprint string    `json:"fingerprint"`
	Fence       int64     `json:"fence"`
	WorkerLost  bool      `json:"worker_lost"` // its lease ran out; false: it waits for a retry or its first begin
	Since       time.Time `json:"since"`
}

// Mark is the place of the job.
func (s Stalled) Mark() Mark { return Mark{s.Since, s.Job.ID} }

// Recorded is what a job's row records of its message.
type Recorded struct {
	Job         Job    `json:"job"`
	WebhookURL  string `json:"webhook_url"`
	TraceParent string `json:"traceparent"`
}

// Resend is another message of a stalled job.
type Resend struct {
	JobID   string    `json:"job_id"`
	Fence   int64     `json:"fence"`   // as Sweep found it
	Queue   string    `json:"queue"`   // where the message goes
	Message string    `json:"message"` // empty: none is sent, and the next sweep finds the job after AgainAfter
	Ages    SweepAges `json:"-"`       // as in Sweep; sent in milliseconds
}
