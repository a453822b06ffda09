package postgres_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Calls of the API that take long, as many as there are, leave connections to the engine.
func TestCallsOfTheAPILeaveConnections(t *testing.T) {
	t.Parallel()
	l := newLocks(t)
	l.exec("lock table documents in access exclusive mode")
	const calls = 8 // more than the pool has connections
	ended := make(chan error, calls)
	for range calls {
		go func() {
			_, err := l.Documents(store.FromAPI(t.Context()), store.DocumentQuery{Limit: 1})
			ended <- err
		}()
	}
	watcher := connect(t, l.url)
	for waiting := 0; waiting < 2; { // all that may run at a time, of 4 connections
		if err := watcher.QueryRow(t.Context(), `select count(*) from pg_locks
			where not granted and relation = 'documents'::regclass
			and database = (select oid from pg_database where datname = current_database()) -- copies have the same numbers`).Scan(&waiting); err != nil {
			t.Fatal(err)
		}
	}
	within, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	for range 20 {
		if _, err := l.Job(within, "none"); !errors.Is(err, store.ErrNotFound) {
			t.Fatalf("the engine's call: %v", err)
		}
	}
	given, giveUp := context.WithCancel(store.FromAPI(t.Context()))
	giveUp()
	if _, err := l.Job(given, "none"); !errors.Is(err, context.Canceled) {
		t.Errorf("a call whose caller has gone: %v", err)
	}
	if err := l.tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range calls {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}
