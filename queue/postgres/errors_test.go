package postgres_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store/rpc"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
	queuepostgres "github.com/seed-7227ef26/async-worker/queue/postgres"
)

// refusing is a database that raises an error at each call.
type refusing struct{ state string }

func (r refusing) Call(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, &rpc.SQLError{State: r.state, Message: "no"}
}

func (refusing) Close() {}

func receiveFrom(t *testing.T, state string) error {
	t.Helper()
	s := queuepostgres.Open(refusing{state}, queuepostgres.Options{ClientID: "acme"})
	defer s.Close()
	_, err := s.Queue("acme-tasks").Receive(t.Context(), 1, time.Minute)
	return err
}

// TestWrongPassword: a login that is refused as a whole is told from one that lacks a right.
func TestWrongPassword(t *testing.T) {
	t.Parallel()
	if err := receiveFrom(t, "28P01"); !errors.Is(err, queue.ErrLogin) || !errors.Is(err, queue.ErrDenied) {
		t.Errorf("a wrong password: %v", err)
	}
	if err := receiveFrom(t, "42501"); errors.Is(err, queue.ErrLogin) || !errors.Is(err, queue.ErrDenied) {
		t.Errorf("a right that is missing: %v", err)
	}
}

// TestHint: the hint is about what the database lacks, and asks only otherwise whether it is up.
func TestHint(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]string{"25006": "the primary", "57P01": "is the database up?"} {
		e, ok := errors.AsType[*taskerr.Error](receiveFrom(t, state))
		if !ok || e.Class != taskerr.TransientStorage || !strings.Contains(e.Hint, want) {
			t.Errorf("%s: %+v", state, e)
		}
	}
}

// TestUnexposed: a schema that the API does not expose is there, and a migration would not help.
func TestUnexposed(t *testing.T) {
	t.Parallel()
	err := receiveFrom(t, "PGRST106")
	if !errors.Is(err, queue.ErrSetting) || !strings.Contains(err.Error(), "set DB_SCHEMA to one that it exposes") ||
		strings.Contains(err.Error(), "migrate") {
		t.Errorf("%v", err)
	}
	if err := receiveFrom(t, "PGRST202"); !errors.Is(err, queue.ErrSetting) || !strings.Contains(err.Error(), "migrate") {
		t.Errorf("a function that is missing: %v", err)
	}
}
