package webhook

import (
	"errors"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/event"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// log logs the result of an attempt; of an outage it logs the start and the end, once each. It omits the URL's path
// and query, which may hold a token.
func (c *Config) log(d store.Delivery, o store.DeliveryOutcome, a Attempt, is store.Receiver) {
	name := host(d.URL)
	log := c.Log.With("task_id", d.JobID, "delivery", d.ID, "host", name, "attempt", d.Attempts+1,
		"latency_ms", a.Latency.Milliseconds())
	if detail := a.detail(); detail != "" {
		log = log.With("detail", detail)
	}
	if is.Ended {
		c.Log.Info("a webhook receiver answers again: what waited for it goes out", "host", name, "down_for",
			is.DownFor.Round(time.Second).String(),
			"waiting", is.Waiting)
	}
	switch {
	case is.Began:
		log.Warn("a webhook receiver is down: its webhooks wait, and one at a time is tried", "waiting", is.Waiting,
			"error", o.Error)
	case is.Down:
		log.Debug("webhook not delivered, its receiver is down", "error", o.Error, "next_probe",
			is.Probe.Round(time.Second).String())
	case o.Status == store.DeliveryDelivered:
		log.Info("webhook delivered", "status", a.Status)
	case d.Once && o.Status == store.DeliveryFailed:
		log.Info("webhook of a task's course not delivered; it is sent once only", "error", o.Error)
	case o.Status == store.DeliveryPending:
		log.Warn("webhook not delivered, to be tried again", "error", o.Error, "next_after",
			o.NextAfter.Round(time.Second).String())
	default:
		attrs := []any{event.Key, event.WebhookGivenUp, "outcome", o.Status, "error", o.Error}
		if refused, ok := errors.AsType[*RefusedError](a.Err); ok && refused.Addr.IsValid() {
			attrs = append(attrs, "address", refused.Addr.String())
		}
		log.Error("webhook given up", attrs...)
	}
}
