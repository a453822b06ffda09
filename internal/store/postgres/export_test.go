package postgres

import (
	"context"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/rpc"
)

// Shared returns a function that opens the stores of tenants over one pool of connections, as a pooler in front of the
// database does: the sessions keep the plans of our functions from one test to the next, which cost a new session more
// than a test's own calls. The pool is closed with the test; the stores need not be.
func Shared(t testing.TB, url string, o Options) func(clientID string) store.Store {
	t.Helper()
	opened, err := OpenCaller(context.WithoutCancel(t.Context()), url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(opened.(*caller).Close)
	return func(clientID string) store.Store {
		c := opened.(*caller)
		return rpc.New(&tenant{&caller{
			pool: c.pool, schema: c.schema, fromAPI: c.fromAPI, unnamed: c.unnamed, clientID: clientID,
		}}, clientID, rpc.Options{Dimensions: o.Dimensions, OnUnanswered: o.OnUnanswered})
	}
}

// tenant is a caller whose pool belongs to others.
type tenant struct{ *caller }

func (*tenant) Close() {}
