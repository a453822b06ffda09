package main

import (
	"context"
	"testing"
	"time"
)

// TestKillWithoutAHit: when all tasks are done and no worker was killed while it held one, the run ends also without limits
// of time.
func TestKillWithoutAHit(t *testing.T) {
	t.Parallel()
	g := newTestServers(t)
	bed, err := g.newBed(t.Context(), postgresQueue)
	if err != nil {
		t.Fatal(err)
	}
	k := &killLoop{o: options{untimed: true}, r: &report{}}
	if k.tenant, err = g.newTenant(t.Context(), bed, postgresStore); err != nil {
		t.Fatal(err)
	}
	k.fed.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := k.killAtRandom(ctx); err != nil {
		t.Error(err)
	}
}
