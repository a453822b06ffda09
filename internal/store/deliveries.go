package store

import (
	"context"
	"errors"
	"time"
)

var (
	// ErrNotResendable says that a delivery can't be sent again: it is still pending, or its id can't be signed.
	ErrNotResendable = errors.New("store: the webhook is not to be sent again")
	// ErrDelivered says that a delivery has reached its receiver.
	ErrDelivered = errors.New("store: the webhook was delivered")
)

// Claim asks for due deliveries.
type Claim struct {
	Worker string        `json:"worker"`
	Max    int           `json:"max"` // 1-100
	Lease  time.Duration `json:"-"`   // sent as lease_ms; short, and extended during an attempt
	// SkipHosts are hosts (lower case, with the port if the URL has one) whose deliveries are not claimed. Their
	// receivers are slow, and must not delay the others.
	SkipHosts []string `json:"skip_hosts,omitempty"`
	// CountDue asks for ClaimedDeliveries.Due, which under a backlog costs as much as the claim.
	CountDue bool `json:"count_due,omitempty"`
}

// ClaimedDeliveries is the answer to a Claim.
type ClaimedDeliveries struct {
	Deliveries []Delivery
	// Next is the time from now until the next delivery is due or the next claim expires. Zero: none is pending.
	Next time.Duration
	// Due counts the other due and unclaimed deliveries, including those of SkipHosts, up to 1001. It is zero unless
	// Claim.CountDue is set.
	Due int
}

// Outbox counts the deliveries that are not over, up to 10001.
type Outbox struct {
	Pending int           // not delivered and not given up, including those in flight
	Due     int           // pending ones whose time has come
	Oldest  time.Duration // age of the oldest pending one; zero: there is none
}

// Delivery is one claimed webhook.
type Delivery struct {
	ID       string // the webhook-id: the same for every attempt, without a dot
	JobID    string // may be empty
	URL      string
	Body     string // signed and sent byte for byte
	Attempts int    // before this one
	Fence    int64  // of this claim

	// Waiting says that the delivery waits for a receiver that is down and probes it. A probe is not an attempt.
	Waiting bool

	TraceParent string // W3C trace context of the job's sender; empty: there is none
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

// Which part of a receiver is down.
const (
	HostDown = "host" // it does not answer
	URLDown  = "url"  // this path fails; others of the host may work
)

// Receiver is the state of a delivery's receiver. While it is down its deliveries wait, whatever their schedules say,
// and one at a time probes it.
type Receiver struct {
	Status  string        // of the delivery: DeliveryFailed also when it has waited as long as its schedule lasts
	Down    bool          // the delivery waits for the receiver
	Began   bool          // this attempt began the outage
	Ended   bool          // this attempt ended it: the deliveries that waited are due
	Waiting int           // number of deliveries that wait, for Began and Ended
	DownFor time.Duration // for Ended
	Probe   time.Duration // until the next probe, for Down
}

// DeliveryOutcome is the outcome of one attempt.
type DeliveryOutcome struct {
	ID             string        `json:"id"`
	Fence          int64         `json:"fence"`
	Status         string        `json:"status"`          // DeliveryPending: try again
	NextAfter      time.Duration `json:"-"`               // sent as next_after_ms; for DeliveryPending
	ResponseStatus int           `json:"response_status"` // zero: no answer
	Latency        time.Duration `json:"-"`               // sent as latency_ms
	Response       string        `json:"response"`        // at most the first kilobyte of the answer, valid UTF-8
	Error          string        `json:"error"`           // for people; empty when delivered
	// Down is HostDown or URLDown if the receiver is down. Empty: it is not known to be.
	Down       string        `json:"down,omitempty"`
	RetryAfter time.Duration `json:"-"` // of the receiver's answer; sent as retry_after_ms
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
	// ResendDelivery makes a delivery that has ended pending again, under its id and with a new schedule. ErrNotFound,
	// ErrNotResendable, and ErrDelivered unless r.Delivered.
	ResendDelivery(ctx context.Context, r DeliveryResend) (DeliveryEntry, error)
}

// DeliveryFilter narrows a listing of deliveries, newest first. Zero fields don't narrow.
type DeliveryFilter struct {
	Status string `json:"status,omitempty"`
	JobID  string `json:"job_id,omitempty"`
	Limit  int    `json:"limit"` // 1-1000
}

// DeliveryEntry is a delivery of a listing. It does not have the URL, whose path or query may hold a token.
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
	CreatedAt      time.Time  `json:"created_at"` // or of the last ResendDelivery
	DeliveredAt    *time.Time `json:"delivered_at,omitempty"`
}

// DeliveryResend names a delivery to send again.
type DeliveryResend struct {
	ID        string `json:"id"`
	Delivered bool   `json:"delivered,omitempty"` // also if it was delivered
}
