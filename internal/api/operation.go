package api

import (
	"context"
	"net/http"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/apitoken"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// Delivery is a webhook. Of its address it has the host alone: path and query may hold a secret.
type Delivery struct {
	ID             string     `json:"id" doc:"The webhook-id."`
	JobID          string     `json:"jobId,omitempty"`
	Event          string     `json:"event"`
	Host           string     `json:"host"`
	Status         string     `json:"status" enum:"pending,delivered,failed,refused"`
	Attempts       int        `json:"attempts" doc:"All of them, also those before it was sent again."`
	NextAttemptAt  *time.Time `json:"nextAttemptAt,omitempty"`
	ResponseStatus *int       `json:"responseStatus,omitempty"`
	LastError      *string    `json:"lastError,omitempty"`
	CreatedAt      time.Time  `json:"createdAt"`
	DeliveredAt    *time.Time `json:"deliveredAt,omitempty"`

	Earlier []DeliveryEnd `json:"earlier,omitempty" doc:"How it ended each time before it was sent again, newest first."`
}

// DeliveryEnd is how a webhook ended before it was sent again by an operator.
type DeliveryEnd struct {
	Status         string     `json:"status" enum:"delivered,failed,refused"`
	Attempts       int        `json:"attempts" doc:"Of that time alone."`
	ResponseStatus *int       `json:"responseStatus,omitempty"`
	LastError      *string    `json:"lastError,omitempty"`
	CreatedAt      time.Time  `json:"createdAt"`
	DeliveredAt    *time.Time `json:"deliveredAt,omitempty"`
	ResentAt       time.Time  `json:"resentAt"`
}

func deliveryOf(d store.DeliveryEntry) Delivery {
	var earlier []DeliveryEnd
	for _, e := range d.Earlier {
		e.CreatedAt, e.DeliveredAt, e.ResentAt = e.CreatedAt.UTC(), utc(e.DeliveredAt), e.ResentAt.UTC()
		earlier = append(earlier, DeliveryEnd(e))
	}
	return Delivery{
		ID: d.ID, JobID: d.JobID, Event: d.Event, Host: d.Host, Status: d.Status, Attempts: d.Attempts,
		NextAttemptAt: utc(d.NextAttemptAt), ResponseStatus: d.ResponseStatus, LastError: d.LastError,
		CreatedAt: d.CreatedAt.UTC(), DeliveredAt: utc(d.DeliveredAt), Earlier: earlier,
	}
}

// Queue is one of the tenant's queues.
type Queue struct {
	Name     string `json:"name"`
	Priority string `json:"priority" enum:"high,normal,low"`
	Depth    int    `json:"depth" doc:"About how many messages, hidden ones included."`
}

// Stats are counts of jobs.
type Stats struct {
	Jobs []JobCount `json:"jobs" nullable:"false" doc:"Active ones, and those made in the last 24 h that ended."`
}

// JobCount is how many jobs of a type have a status.
type JobCount struct {
	Type   string `json:"type"`
	Status string `json:"status"`
	Jobs   int    `json:"jobs"`
}

type deliveriesInput struct {
	Status string `query:"status" enum:"pending,delivered,failed,refused"`
	JobID  string `query:"jobId" maxLength:"128"`
	ListInput
}

type resendInput struct {
	ID    string `path:"id" maxLength:"128"`
	Force bool   `query:"force" doc:"Even if it was delivered."`
}

func (a *API) registerOperation() {
	register(a, call{
		method: http.MethodGet, path: "/v1/webhook-deliveries", id: "list-webhook-deliveries", tag: "operation",
		scope: apitoken.Read, summary: "List webhooks, the newest first",
	}, a.listDeliveries)
	register(a, call{
		method: http.MethodPost, path: "/v1/webhook-deliveries/{id}/resend", id: "resend-webhook", tag: "operation",
		scope: apitoken.Operate, summary: "Send a webhook again", status: http.StatusAccepted,
	}, a.resend)
	register(a, call{
		method: http.MethodGet, path: "/v1/queues", id: "list-queues", tag: "operation", scope: apitoken.Read,
		summary: "List the queues",
	}, a.listQueues)
	register(a, call{
		method: http.MethodPost, path: "/v1/wake", id: "wake", tag: "operation", scope: apitoken.Submit,
		summary: "Make idle workers look for messages now", status: http.StatusNoContent,
	}, a.wake)
	register(a, call{
		method: http.MethodGet, path: "/v1/stats", id: "stats", tag: "operation", scope: apitoken.Read,
		summary: "Count jobs by type and status",
	}, func(ctx context.Context, _ *struct{}) (*bodyOf[Stats], error) {
		counts, err := a.reader(ctx).Stats(ctx, 24*time.Hour)
		out := Stats{Jobs: []JobCount{}}
		for _, c := range counts {
			out.Jobs = append(out.Jobs, JobCount(c))
		}
		return body(out), err
	})
}

// wake is for senders that put their messages on the queues themselves.
func (a *API) wake(ctx context.Context, _ *struct{}) (*struct{}, error) {
	return nil, a.deps.Store.WakeWorkers(ctx)
}

func (a *API) resend(ctx context.Context, in *resendInput) (*bodyOf[Delivery], error) {
	d, err := a.deps.Store.ResendDelivery(ctx, store.DeliveryResend{ID: in.ID, Delivered: in.Force})
	if err != nil {
		return nil, err
	}
	a.audit(ctx, "had a webhook sent again", "delivery", in.ID, "task_id", d.JobID)
	return body(deliveryOf(d)), nil
}

func (a *API) listDeliveries(ctx context.Context, in *deliveriesInput) (*bodyOf[Page[Delivery]], error) {
	after, err := placeOf[store.DeliveryCursor](in.Cursor)
	if err != nil {
		return nil, err
	}
	found, err := a.deps.Store.ListDeliveries(ctx, store.DeliveryFilter{
		Status: in.Status, JobID: in.JobID, After: after, Limit: in.Limit + 1,
	})
	if err != nil {
		return nil, err
	}
	return body(page(found, in.Limit, deliveryOf, func(d store.DeliveryEntry) string {
		return cursorOf(store.DeliveryCursor{At: d.CreatedAt, ID: d.ID})
	})), nil
}

func (a *API) listQueues(ctx context.Context, _ *struct{}) (*bodyOf[Page[Queue]], error) {
	p := Page[Queue]{Items: []Queue{}}
	for _, priority := range []task.Priority{task.PriorityHigh, task.PriorityNormal, task.PriorityLow} {
		q := a.deps.Queue(priority)
		n, err := q.Depth(ctx)
		if err != nil {
			return nil, err
		}
		p.Items = append(p.Items, Queue{Name: q.Name(), Priority: string(priority), Depth: n})
	}
	return body(p), nil
}
