package postgres_test

import (
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/rpc"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/store/storetest"
)

// TestLeavesReadOnlySessions: a worker writes as soon as its database takes writes again. A session would stay read-only.
func TestLeavesReadOnlySessions(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, schema.Options{Dimensions: storetest.Dimensions})
	name := connect(t, url).Config().Database
	admin := connect(t, stacktest.Cluster(t).URL("postgres"))
	exec := func(sql string) {
		t.Helper()
		if _, err := admin.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	exec("alter database " + name + " set default_transaction_read_only = on")
	s := open(t, url, "acme")
	t.Cleanup(s.Close)
	claim := func() error {
		_, err := s.ClaimDeliveries(t.Context(), store.Claim{Worker: "w", Max: 1})
		return err
	}
	if err := claim(); rpc.RemedyOf(err) != rpc.Remedy(rpc.ReadOnly) {
		t.Fatalf("while it is read-only: %v", err)
	}
	exec("alter database " + name + " reset default_transaction_read_only")
	if err := claim(); err != nil {
		t.Errorf("when it takes writes again: %v", err)
	}
}
