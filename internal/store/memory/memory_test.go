package memory_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/memory"
	"github.com/seed-7227ef26/async-worker/internal/store/storetest"
)

// Embedding at two depths: methods of the model hide those of the nil store.Store.
type (
	engineCalls = store.Jobs
	lacking     struct{ store.Store }
)

// whole is the model as a store. Its other methods panic.
type whole struct {
	lacking
	engineCalls
	memory.Reader
}

// ClaimDeliveries returns all rows of the outbox.
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

// TestConformance runs the suite that the SQL functions pass, too.
func TestConformance(t *testing.T) {
	t.Parallel()
	storetest.RunJobs(t, open)
}

func TestModel(t *testing.T) {
	t.Parallel()
	storetest.RunModel(t, open)
}
