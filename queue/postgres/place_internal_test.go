package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store/rpc"
)

// TestFlakyDatabase: what others held is left to them after an outage, however long it was, and for a few outages on
// a database that fails every few seconds.
func TestFlakyDatabase(t *testing.T) {
	t.Parallel()
	var p place
	now, failed := time.Now(), time.Time{}
	receive := func(after time.Duration, err error) (all bool) {
		now = now.Add(after)
		from := p.begin(now, failed)
		if err != nil {
			failed = now
		}
		p.end(now, failed, from, cursor{}, err)
		return from.HeldAfter != nothingHeld
	}
	down := errors.New("down")
	if !receive(0, nil) {
		t.Error("the first receive leaves something out")
	}
	for range 100 { // an outage of 200 s
		receive(2*time.Second, down)
	}
	if receive(time.Second, nil) || receive(aftermath-2*time.Second, nil) {
		t.Error("what was held is taken as soon as the database is back")
	}
	if !receive(time.Second, nil) {
		t.Error("what was held is still left out")
	}
	last := now
	for now.Sub(last) <= time.Minute {
		receive(2*time.Second, down)
		if receive(2*time.Second, nil) {
			return
		}
	}
	t.Error("a database that fails every 4 s hides what was held for ever")
}

// TestLateTimeouts: requests that time out one after the other when the database is back already are one outage, or few.
func TestLateTimeouts(t *testing.T) {
	t.Parallel()
	var p place
	now := time.Now()
	for late := range 2 * spareMost {
		failed := now
		now = now.Add(500 * time.Millisecond)
		from := p.begin(now, failed)
		if p.end(now, failed, from, cursor{}, nil); from.HeldAfter != nothingHeld {
			t.Fatalf("after %d late requests all is taken", late+1)
		}
	}
}

// TestWhatFails: a receive leaves to others what they held, once any request has failed: a worker may have received
// nothing during the outage.
func TestWhatFails(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want string
	}{
		{errors.New("connection refused"), nothingHeld},
		{&rpc.SQLError{State: "57P03"}, nothingHeld},
		{&rpc.SQLError{State: "53300"}, nothingHeld},
		{&rpc.SQLError{State: "25006"}, nothingHeld},
		{&rpc.SQLError{State: "42501"}, ""},
		{nil, ""},
	} {
		db := &database{err: c.err}
		q := Open(db, Options{}).Queue("q").(*pgQueue)
		err := newLease(q, "id", "receipt", time.Now()).Extend(t.Context(), time.Minute)
		db.err = nil
		if _, receiveErr := q.Receive(t.Context(), 1, time.Minute); receiveErr != nil {
			t.Fatal(receiveErr)
		}
		if db.asked.HeldAfter != c.want {
			t.Errorf("after %v a receive looks at what is held after %q, want %q", err, db.asked.HeldAfter, c.want)
		}
	}
}

// database answers requests, or fails.
type database struct {
	err   error
	asked arguments // by the last request
}

// Call implements rpc.Caller.
func (d *database) Call(_ context.Context, _ string, p json.RawMessage) (json.RawMessage, error) {
	d.asked = arguments{}
	return json.RawMessage(`{"held":true}`), errors.Join(d.err, json.Unmarshal(p, &d.asked))
}

// Close implements rpc.Caller.
func (*database) Close() {}
