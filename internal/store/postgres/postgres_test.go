package postgres_test

import (
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/store/storetest"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

func open(t testing.TB, url, client string) store.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), url, postgres.Options{ClientID: client, Dimensions: storetest.Dimensions, MaxConns: 4})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConformance(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, schema.Options{Dimensions: storetest.Dimensions})
	storetest.Run(t, func(t testing.TB, client string) store.Store { return open(t, url, client) })
}

func TestModel(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, schema.Options{Dimensions: storetest.Dimensions})
	storetest.RunModel(t, func(t testing.TB, client string) store.Store { return open(t, url, client) })
}
