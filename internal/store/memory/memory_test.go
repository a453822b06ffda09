package memory_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/memory"
	"github.com/seed-7227ef26/async-worker/internal/store/storetest"
)

// Names for embedding: what stands deeper yields to what the model has.
type (
	engineCalls = store.Jobs
	lacking     struct{ store.Store }
)

// whole is the model as a store. What it lacks is nil.
type whole struct {
	lacking
	engineCalls
	memory.Reader
}

// ClaimDeliveries lists all of the outbox, of which nobody delivers.
func (w whole) ClaimDeliveries(ctx context.Context, _ store.Claim) (store.ClaimedDeliveries, error) {
	jobs, err := w.Reader.Jobs(ctx, store.JobFilter{Limit: 1000})
	if err != nil {
		return store.ClaimedDeliveries{}, err
	}
	var out []store.Delivery
	for _, j := range jobs {
		row, _ := w.Reader.Store.Row(j.ID)
		for _, hook := range row.Outbox {
			body, err := json.Marshal(map[string]string{"type": hook.Event})
			if err != nil {
				return store.ClaimedDeliveries{}, err
			}
			out = append(out, store.Delivery{ID: hook.ID, JobID: j.ID, URL: hook.URL, Body: string(body)})
		}
	}
	return store.ClaimedDeliveries{Deliveries: out}, nil
}

func (whole) Check(context.Context) error { return nil }
func (whole) Close()                      {}

func open(_ testing.TB, clientID string) store.Store {
	jobs := memory.New()
	return whole{engineCalls: jobs, Reader: memory.Reader{Store: jobs, ClientID: clientID}}
}

// The model says what the SQL functions say: both pass one suite, and the same random lives of a job.
func TestConformance(t *testing.T) {
	t.Parallel()
	storetest.RunJobs(t, open)
}

func TestModel(t *testing.T) {
	t.Parallel()
	storetest.RunModel(t, open)
}
