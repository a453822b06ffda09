package postgres_test

import (
	"errors"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/store/storetest"
)

// TestLacks: Examine names each right of the worker's role that is revoked alone, and its SQL restores the right.
func TestLacks(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, schema.Options{Dimensions: storetest.Dimensions})
	storetest.RunLacks(t, func(t testing.TB, client string) store.Store { return open(t, url, client) },
		connect(t, url), postgres.Role, false)
}

// TestExamineNothing: in an empty database Examine reports a missing schema, not a missing right.
func TestExamineNothing(t *testing.T) {
	t.Parallel()
	s := open(t, stacktest.EmptyPostgres(t), "a")
	t.Cleanup(s.Close)
	if _, err := s.Examine(t.Context()); !errors.Is(err, store.ErrSchema) {
		t.Errorf("got %v", err)
	}
}
