package postgres_test

import (
	"fmt"
	"hash/fnv"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/store/supabase"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/queue"
	pgqueue "github.com/seed-7227ef26/async-worker/queue/postgres"
	"github.com/seed-7227ef26/async-worker/queue/queuetest"
)

func TestMain(m *testing.M) {
	stacktest.Main(m, leaktest.Find)
}

// small is a schema whose vectors take little time to migrate.
var small = schema.Options{Dimensions: 8}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// direct opens the queues over a connection to the database.
func direct(t testing.TB, url, client string) queue.Service {
	t.Helper()
	caller, err := postgres.OpenCaller(t.Context(), url, postgres.Options{ClientID: client, MaxConns: 4})
	must(t, err)
	return pgqueue.Open(caller, pgqueue.Options{ClientID: client})
}

// overAPI opens the queues over PostgREST.
func overAPI(t testing.TB, api stacktest.Supabase, key, client string) queue.Service {
	t.Helper()
	caller, err := supabase.OpenCaller(api.URL, key, supabase.Options{ClientID: client})
	must(t, err)
	t.Cleanup(caller.Close)
	return pgqueue.Open(caller, pgqueue.Options{ClientID: client})
}

// clientOf is a client for one test alone: a client has no queues but its four.
func clientOf(t testing.TB) string {
	h := fnv.New64a()
	h.Write([]byte(t.Name()))
	return fmt.Sprintf("test-%x", h.Sum64())
}

func TestConformance(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, small)
	api := stacktest.PostgREST(t, url)
	for name, open := range map[string]func(t *testing.T, client string) queue.Service{
		"direct": func(t *testing.T, client string) queue.Service { return direct(t, url, client) },
		"exec": func(t *testing.T, client string) queue.Service {
			return direct(t, url+"&default_query_exec_mode=exec", client)
		},
		"tenant key": func(t *testing.T, client string) queue.Service {
			return overAPI(t, api, api.TenantKey(t, client), client)
		},
		"service key": func(t *testing.T, client string) queue.Service {
			return overAPI(t, api, api.ServiceKey(t), client)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			queuetest.Run(t, func(t *testing.T) queue.Service { return open(t, clientOf(t)) }, queuetest.Options{
				Names: func(t *testing.T) (name, absent string) {
					names := task.QueueNames(clientOf(t))
					return names.Normal, names.Low
				},
			})
		})
	}
}
