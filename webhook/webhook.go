// Package webhook notifies receivers of the outcome of tasks: durably, signed as Standard Webhooks 1.0.0, and never at
// an address that a tenant may not reach. The transaction that commits an outcome writes the webhook to the store's
// outbox. Loop claims due rows, Sender makes an attempt, and its result goes back to the row with the time of the next.
//
// An attempt is at most three requests within seconds (see Sender), each signed with its own timestamp. Everything
// longer is the schedule's, which the row holds.
package webhook

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/retry"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// MaxRetryAfter bounds how long a receiver's Retry-After puts off the next attempt.
const MaxRetryAfter = 24 * time.Hour

// schedule holds the waits before the attempts, the one that Standard Webhooks 1.0.0 suggests.
func schedule() []time.Duration {
	return []time.Duration{
		0, 5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour,
		5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
	}
}

// Attempt is the result of one attempt.
type Attempt struct {
	Status     int           // of the answer; zero: there was none
	RetryAfter time.Duration // of the answer; zero: it has none
	Latency    time.Duration // from the start of the request until the answer was read
	Response   string        // at most the first kilobyte of the body; valid UTF-8 without U+0000
	Err        error         // why there was no answer; a *RefusedError when the request is not allowed

	Unreachable bool // no connection to the host could be made
}

// outcome says what follows from an attempt at a delivery.
func outcome(d store.Delivery, a Attempt) store.DeliveryOutcome {
	o := store.DeliveryOutcome{
		ID: d.ID, Fence: d.Fence, ResponseStatus: a.Status, Latency: a.Latency, Response: a.Response,
		Error: a.problem(), RetryAfter: min(a.RetryAfter, MaxRetryAfter),
	}
	waits := schedule()
	made := d.Attempts + 1
	switch {
	case errors.Is(a.Err, errStopping): // the next worker sends it at once: its id tells a receiver that has it
		o.Status, o.Uncounted = store.DeliveryPending, true
	case a.refused():
		o.Status = store.DeliveryRefused
	case a.succeeded():
		o.Status = store.DeliveryDelivered
	case a.Status == http.StatusGone:
		o.Status = store.DeliveryFailed
	case d.Once:
		o.Status = store.DeliveryFailed
		o.Error += "; it is sent once only"
	case d.Waiting && (a.Status == 0 || a.Status >= http.StatusInternalServerError):
		o.Status, o.NextAfter = store.DeliveryPending, waits[1]
	case made >= len(waits):
		o.Status = store.DeliveryFailed
		o.Error += fmt.Sprintf("; that was the last of %d attempts", len(waits))
	default:
		o.Status = store.DeliveryPending
		o.NextAfter = max(retry.Jitter(waits[made], 0.1), min(a.RetryAfter, MaxRetryAfter))
	}
	return o
}

// short reports whether this machine lacked something, e.g. open files: it says nothing about the receiver.
func (a Attempt) short() bool { return a.Err != nil && taskerr.Exhausted(a.Err) }

func (a Attempt) succeeded() bool { return a.Err == nil && a.Status/100 == 2 }

// problem is for people; it bears neither path nor query of the URL, which may hold a token.
func (a Attempt) problem() string {
	refused, isRefused := errors.AsType[*RefusedError](a.Err)
	switch {
	case isRefused:
		return refused.Public()
	case a.Err != nil:
		return a.Err.Error()
	case a.succeeded():
		return ""
	case a.Status == http.StatusGone:
		return "the receiver answered 410: it wants no more of this"
	case a.Status/100 == 3:
		return fmt.Sprintf("the receiver answered %d; redirects are not followed, give the final URL as webhook_url",
			a.Status)
	default:
		return strings.TrimSpace(fmt.Sprintf("the receiver answered %d %s", a.Status, http.StatusText(a.Status)))
	}
}

// hostKey is the host of a delivery as the store knows it: a claim skips hosts by it. Another spelling than the store's,
// such as the host that url.Parse unescapes, would skip nothing. It is not for logs.
func hostKey(d store.Delivery) string { return cmp.Or(d.Host, host(d.URL)) }

// host is all of a URL that may be logged.
func host(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}
