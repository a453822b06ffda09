package store

import (
	"context"
	"errors"
	"time"
)

var (
	// ErrNotResendable means that a delivery can't be sent again: it is still pending, or its id can't be signed.
	ErrNotResendable = errors.New("the webhook is not to be sent again")
	// ErrDelivered means that a delivery has reached its receiver.
	ErrDelivered = errors.New("the webhook was delivered")
)

// Claim asks for due deliveries.
type Claim struct {
	Worker string        `json:"worker"`
	Max    int           `json:"max"` // 1-100
	Lease  time.Duration `json:"-"`   // sent as lease_ms; short, and extended while an attempt is under way
	// SkipHosts are hosts (lower case, with the port if the URL has one) whose deliveries are not claimed: their
	// receivers are slow, and others must not wait for them.
	SkipHosts []string `json:"skip_hosts,omitempty"`
	// CountDue requests ClaimedDeliveries.Due, which costs as much as the claim under a backlog.
	CountDue bool `json:"count_due,omitempty"`
}

// ClaimedDeliveries is the answer to a Claim.
type ClaimedDeliveries struct {
	Deliveries []Delivery
	// Next is the time until the next delivery becomes due, or its claim runs out. Zero: none is pending.
	Next time.Duration
	// Due is the number of other due and unclaimed deliveries, including those of SkipHosts, up to 1001. Zero without
	// CountDue.
	Due int
}

// Outbox counts the deliveries that are not done, up to 10001.
type Outbox struct {
	Pending int           // neither delivered nor given up, including those in flight
	Due     int           // of these, those that are due
	Oldest  time.Duration // age of the oldest; zero: there is none
}

// Delivery is one claimed webhook.
type Delivery struct {
	ID       string // the webhook-id: the same for every attempt, without a dot
	JobID    string // may be empty
	URL      string
	Host     string // of the URL, as SkipHosts means it; not for logs: it may hold a password; empty: not known
	Body     string // exactly what is signed and sent
	Attempts int    // before this one, since it was last sent again by hand
	Fence    int64  // of this claim

	// Waiting means that it probes a receiver that is down. This is not an attempt, and so never the last one.
	Waiting bool

	// Once means that it is tried once and not again.
	Once bool

	TraceParent string // the job's W3C trace context, from its sender; empty: there is none
}

// Delivery states.
const (
	DeliveryPending   = "pending"
	DeliveryDelivered = "delivered"
	DeliveryFailed    = "failed"  // after the last attempt of the schedule, or a 410
	DeliveryRefused   = "refused" // the address is forbidden
)

// DeliveryClaim names a claim.
type DeliveryClaim struct {
	ID    string `json:"id"`
	Fence int64  `json:"fence"`
}

// The parts of a receiver that can be down.
const (
	HostDown = "host" // it does not answer
	URLDown  = "url"  // this path fails; others of the host may work
)

// Receiver is the state of the receiver of a settled delivery. While it is down, its deliveries wait regardless of
// their schedules, and one at a time probes it.
type Receiver struct {
	Status  string        // of the delivery: DeliveryFailed also if it waited for as long as its schedule
	Down    bool          // the delivery waits for the receiver
	Began   bool          // this attempt began the outage
	Ended   bool          // this attempt ended the outage: the next claims release the waiting deliveries
	Waiting int           // with Began and Ended: the waiting deliveries, up to 10001
	DownFor time.Duration // with Ended
	Probe   time.Duration // with Down: until the next attempt
}

// DeliveryOutcome is the result of one attempt.
type DeliveryOutcome struct {
	ID             string        `json:"id"`
	Fence          int64         `json:"fence"`
	Status         string        `json:"status"`              // DeliveryPending: to be tried again
	NextAfter      time.Duration `json:"-"`                   // sent as next_after_ms; for DeliveryPending
	Uncounted      bool          `json:"uncounted,omitempty"` // the attempt was cut off by the worker itself
	ResponseStatus int           `json:"response_status"`     // zero: no answer
	Latency        time.Duration `json:"-"`                   // sent as latency_ms
	Response       string        `json:"response"`            // at most the first kilobyte of the answer, valid UTF-8
	Error          string        `json:"error"`               // for people; empty when delivered
	// Down is HostDown or URLDown; empty: the receiver is not known to be down.
	Down       string        `json:"down,omitempty"`
	RetryAfter time.Duration `json:"-"` // from the answer; sent as retry_after_ms
}

// DeliveryStatus is a delivery of a job.
type DeliveryStatus struct {
	ID             string     `json:"id"`
	JobID          string     `json:"job_id"`
	URL            string     `json:"url"`
	Status         string     `json:"status"`
	Attempts       int        `json:"attempts"`
	NextAttemptAt  *time.Time `json:"next_attempt_at"`
	ResponseStatus *int       `json:"response_status"`
	LastError      *string    `json:"last_error"`
	DeliveredAt    *time.Time `json:"delivered_at"`

	Earlier []DeliveryEnd `json:"earlier,omitempty"` // as in DeliveryEntry
}

// DeliveryEnd is how a delivery ended before it was sent again by hand.
type DeliveryEnd struct {
	Status         string     `json:"status"`   // not DeliveryPending
	Attempts       int        `json:"attempts"` // of that time alone
	ResponseStatus *int       `json:"response_status,omitempty"`
	LastError      *string    `json:"last_error,omitempty"`
	CreatedAt      time.Time  `json:"created_at"` // or when it was sent again the time before
	DeliveredAt    *time.Time `json:"delivered_at,omitempty"`
	ResentAt       time.Time  `json:"resent_at"`
}

// Resends are the operations of people on deliveries.
type Resends interface {
	ListDeliveries(ctx context.Context, f DeliveryFilter) ([]DeliveryEntry, error)
	// ResendDelivery makes an ended delivery due again under its id, with a new schedule. ErrNotFound, ErrNotResendable, and
	// ErrDelivered unless r.Delivered.
	ResendDelivery(ctx context.Context, r DeliveryResend) (DeliveryEntry, error)
}

// DeliveryFilter narrows a listing of deliveries, newest first. Zero fields don't narrow.
type DeliveryFilter struct {
	Status string          `json:"status,omitempty"`
	JobID  string          `json:"job_id,omitempty"`
	After  *DeliveryCursor `json:"after,omitempty"` // for the next page
	Limit  int             `json:"limit"`           // 1-1000
}

// DeliveryCursor is a place in a listing of deliveries.
type DeliveryCursor struct {
	At time.Time `json:"at"`
	ID string    `json:"id"`
}

// DeliveryEntry is a delivery of a listing. It has only the host of its address: path and query may hold a token.
type DeliveryEntry struct {
	ID             string     `json:"id"` // the webhook-id
	JobID          string     `json:"job_id,omitempty"`
	Event          string     `json:"event"` // task.completed, task.failed, …
	Host           string     `json:"host"`
	Status         string     `json:"status"`
	Attempts       int        `json:"attempts"`  // all, also those before it was sent again by hand
	InFlight       bool       `json:"in_flight"` // a worker is sending it
	Waiting        bool       `json:"waiting"`   // its receiver is down
	NextAttemptAt  *time.Time `json:"next_attempt_at,omitempty"`
	ResponseStatus *int       `json:"response_status,omitempty"`
	LastError      *string    `json:"last_error,omitempty"`
	CreatedAt      time.Time  `json:"created_at"` // or when it was last sent again by hand
	DeliveredAt    *time.Time `json:"delivered_at,omitempty"`

	// Earlier has an entry for each time that it was sent again by hand, newest first, at most 20. The
	// fields above, except Attempts, are about the time since.
	Earlier []DeliveryEnd `json:"earlier,omitempty"`
}

// DeliveryResend requests that a delivery is sent again.
type DeliveryResend struct {
	ID        string `json:"id"`
	Delivered bool   `json:"delivered,omitempty"` // even if it was delivered
}
