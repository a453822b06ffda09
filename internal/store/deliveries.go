package store

import (
	"context"
	"errors"
	"time"
)

var (
	// ErrNotResendable says that a delivery can't be sent again: it is pending, and so is sent by itself, or its id
	// can't be signed.
	ErrNotResendable = errors.New("store: the webhook is not to be sent again")
	// ErrDelivered says that a delivery reached its receiver.
	ErrDelivered = errors.New("store: the webhook was delivered")
)

// Claim asks for due deliveries.
type Claim struct {
	Worker string        `json:"worker"`
	Max    int           `json:"max"` // 1-100
	Lease  time.Duration `json:"-"`   // sent as lease_ms; short, and extended while an attempt is under way
	// SkipHosts are hosts (lower case, with the port if the URL has one) whose deliveries are not wanted
	// now: their receivers are slow, and shall not keep others waiting.
	SkipHosts []string `json:"skip_hosts,omitempty"`
	// CountDue asks for Claimed.Due, which under a backlog costs as much as the claim.
	CountDue bool `json:"count_due,omitempty"`
}

// ClaimedDeliveries is the answer to a Claim.
type ClaimedDeliveries struct {
	Deliveries []Delivery
	// Next is when the next one will be due that is not yet, or whose claim runs out, as a wait from now.
	// Zero: none is pending.
	Next time.Duration
	// Due is how many others are due and unclaimed, those of SkipHosts included. It is not counted beyond 1001,
	// and zero unless it was asked for.
	Due int
}

// Outbox is what is still to be delivered. Nothing is counted beyond 10001.
type Outbox struct {
	Pending int           // not delivered and not given up, those that are being sent included
	Due     int           // of these, those whose time has come
	Oldest  time.Duration // since the oldest of them was put there; zero: there is none
}

// Delivery is one claimed webhook.
type Delivery struct {
	ID       string // the webhook-id: the same for every attempt, without a dot
	JobID    string // may be empty
	URL      string
	Body     string // exactly what is signed and sent
	Attempts int    // before this one
	Fence    int64  // of this claim

	// Waiting says that it waits for a receiver that is down, and probes it: no attempt, and so not the last.
	Waiting bool

	TraceParent string // the job's W3C trace context, from its sender; empty: there is none
}

// Delivery states.
const (
	DeliveryPending   = "pending"
	DeliveryDelivered = "delivered"
	DeliveryFailed    = "failed"  // the schedule is over, or the receiver said 410
	DeliveryRefused   = "refused" // the address may not be called
)

// DeliveryClaim names a claim.
type DeliveryClaim struct {
	ID    string `json:"id"`
	Fence int64  `json:"fence"`
}

// What of a receiver is down, as a worker sees it.
const (
	HostDown = "host" // nothing answers there
	URLDown  = "url"  // this path fails; others of the host may work
)

// Receiver is how the receiver of a settled delivery is. While it is down its deliveries wait for it, whatever their
// schedules say, and one at a time is tried.
type Receiver struct {
	Status  string        // of the delivery: DeliveryFailed also when it waited for as long as its schedule is
	Down    bool          // the delivery waits for the receiver
	Began   bool          // this attempt began the outage
	Ended   bool          // this attempt ended it: all that waited is due
	Waiting int           // deliveries that wait, of Began and Ended
	DownFor time.Duration // of Ended
	Probe   time.Duration // until the next attempt, of Down
}

// DeliveryOutcome is what came of one attempt.
type DeliveryOutcome struct {
	ID             string        `json:"id"`
	Fence          int64         `json:"fence"`
	Status         string        `json:"status"`          // DeliveryPending: to be tried again
	NextAfter      time.Duration `json:"-"`               // sent as next_after_ms; for DeliveryPending
	ResponseStatus int           `json:"response_status"` // zero: no answer
	Latency        time.Duration `json:"-"`               // sent as latency_ms
	Response       string        `json:"response"`        // at most the first kilobyte of the answer, valid UTF-8
	Error          string        `json:"error"`           // for people; empty when delivered
	// Down is HostDown or URLDown when the receiver is; empty: not as far as is known.
	Down       string        `json:"down,omitempty"`
	RetryAfter time.Duration `json:"-"` // as the receiver asks for; sent as retry_after_ms
}

// DeliveryStatus is a delivery as people see it.
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
}

// Resends are what people do with deliveries.
type Resends interface {
	ListDeliveries(ctx context.Context, f DeliveryFilter) ([]DeliveryEntry, error)
	// ResendDelivery has a delivery that is over sent again under its id, as if it were new. ErrNotFound,
	// ErrNotResendable, and ErrDelivered unless r.Delivered.
	ResendDelivery(ctx context.Context, r DeliveryResend) (DeliveryEntry, error)
}

// DeliveryFilter narrows a listing of deliveries, newest first. Zero fields don't narrow.
type DeliveryFilter struct {
	Status string `json:"status,omitempty"`
	JobID  string `json:"job_id,omitempty"`
	Limit  int    `json:"limit"` // 1-1000
}

// DeliveryEntry is a delivery of a listing. It has no address, whose path or query may hold a token.
type DeliveryEntry struct {
	ID             string     `json:"id"` // the webhook-id
	JobID          string     `json:"job_id,omitempty"`
	Event          string     `json:"event"` // task.completed, task.failed, …
	Host           string     `json:"host"`
	Status         string     `json:"status"`
	Attempts       int        `json:"attempts"`
	InFlight       bool       `json:"in_flight"` // a worker is sending it
	Waiting        bool       `json:"waiting"`   // its receiver is down
	NextAttemptAt  *time.Time `json:"next_attempt_at,omitempty"`
	ResponseStatus *int       `json:"response_status,omitempty"`
	LastError      *string    `json:"last_error,omitempty"`
	CreatedAt      time.Time  `json:"created_at"` // or when it was last sent again by hand
	DeliveredAt    *time.Time `json:"delivered_at,omitempty"`
}

// DeliveryResend asks for a delivery to be sent again.
type DeliveryResend struct {
	ID        string `json:"id"`
	Delivered bool   `json:"delivered,omitempty"` // also one that was delivered
}
