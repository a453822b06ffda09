package app

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/azure"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

var errRefused = &net.OpError{Op: "dial", Err: errors.New("connection refused")}

// service fails until a given time.
type service struct {
	from  time.Time
	err   error // until then
	asked int
}

func (s *service) ask(context.Context) error {
	s.asked++
	if time.Now().Before(s.from) {
		return s.err
	}
	return nil
}

// start runs a starter on a database and queues.
func start(ctx context.Context, bound time.Duration, database, queues *service) (status []string, err error) {
	s := starter{bound: bound, log: slog.New(slog.DiscardHandler), status: func(line string, extend time.Duration) {
		if extend < startRound {
			line += " (too short)"
		}
		status = append(status, line)
	}}
	err = s.await(ctx, []dependencyCheck{
		{name: "the database", where: "db.example:5432", ask: database.ask},
		{name: "the queues", where: "acme.queue.example", ask: queues.ask},
	})
	return status, err
}

// The start waits for a service that is down, with growing pauses; the others are probed once, and the worker is not
// reported as ready.
func TestStartWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		database, queues := &service{
			from: began.Add(90 * time.Second), err: &taskerr.Error{Class: taskerr.TransientStorage, Message: "down"},
		}, &service{}
		status, err := start(t.Context(), 4*time.Minute, database, queues)
		if took := time.Since(began); err != nil || took < 90*time.Second ||
			took > 90*time.Second+longestStartWait*5/4 {
			t.Errorf("%v after %v", err, took)
		}
		if database.asked < 8 || database.asked > 16 || queues.asked != 1 {
			t.Errorf("the database was probed %d times, the queues %d times", database.asked, queues.asked)
		}
		if len(status) != database.asked-1 || !strings.Contains(status[0],
			"waiting for the database at db.example:5432 since") ||
			strings.Contains(strings.Join(status, ""), "queues") ||
			strings.Contains(strings.Join(status, ""), "short") {
			t.Errorf("status %q", status)
		}
	})
}

// A service that stays down ends the start within its bound, with the service, its host and the time in the error.
func TestStartGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		database := &service{
			from: began.Add(time.Hour), err: &taskerr.Error{
				Class: taskerr.NetworkTimeout, Message: "the database took too long",
			},
		}
		_, err := start(t.Context(), 4*time.Minute, database, &service{})
		took := time.Since(began)
		gone, ok := errors.AsType[*UnavailableError](err)
		if !ok || took > 4*time.Minute || took < 4*time.Minute || gone.Tried != took {
			t.Fatalf("%v after %v", err, took)
		}
		for _, part := range []string{
			"the database at db.example:5432", "took too long", "START_MAX_SEC",
			took.Round(time.Second).String(),
		} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q lacks %q", err, part)
			}
		}
	})
}

// What waiting can't fix ends the start at once, also next to what it may fix; so does a bound of zero, and a stop.
func TestStartDoesNotWaitInVain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		never := began.Add(time.Hour)
		for _, permanent := range []error{
			store.ErrForbidden, store.ErrSchema, &azure.Problem{Kind: azure.Permission, Status: 403},
			&azure.Problem{Kind: azure.Setting, Status: 404},
			&tls.CertificateVerificationError{Err: errors.New("unknown authority")},
			errors.New("unknown"),
		} {
			status, err := start(t.Context(), time.Minute, &service{from: never, err: errRefused},
				&service{from: never, err: permanent})
			if !errors.Is(err, permanent) || !errors.Is(err, errRefused) || len(status) != 0 {
				t.Errorf("%v: got %v", permanent, err)
			}
		}
		if _, err := start(t.Context(), 0, &service{from: never, err: errRefused}, &service{}); !errors.Is(err,
			errRefused) {
			t.Errorf("without a wait: %v", err)
		}
		if !time.Now().Equal(began) {
			t.Errorf("waited for %v", time.Since(began))
		}
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(30*time.Second, stop)
		_, err := start(ctx, time.Hour, &service{from: never, err: errRefused}, &service{})
		if !errors.Is(err, context.Canceled) || time.Since(began) != 30*time.Second {
			t.Errorf("stopped: %v after %v", err, time.Since(began))
		}
	})
	for _, waits := range []error{
		&net.DNSError{Err: "no such host", IsNotFound: true}, &azure.Problem{Kind: azure.Outage},
		&azure.Problem{Kind: azure.Setting}, context.DeadlineExceeded,
	} {
		if _, dns := errors.AsType[*net.DNSError](waits); dns {
			waits = &net.OpError{Op: "dial", Err: waits}
		}
		if !passing(waits) {
			t.Errorf("the start does not wait for %v", waits)
		}
	}
}
