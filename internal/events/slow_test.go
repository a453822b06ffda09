package events_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/events"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// slowStore has events that each take some time to read. As in a database, the lease can't be renewed while a page of them
// is read, and ends from when the read began.
type slowStore struct {
	events []store.Outgoing
	each   time.Duration

	row chan struct{} // holds a token while nobody has the publisher's row
	at  int64         // the position
}

func (s *slowStore) OpenPublisher(context.Context) error { return nil }

func (s *slowStore) ClaimPublisher(context.Context, string, time.Duration) (store.PublisherClaim, error) {
	return store.PublisherClaim{Held: true, Fence: 1}, nil
}

func (s *slowStore) PublisherState(context.Context) (state store.PublisherState, _ error) {
	return state, nil
}

func (s *slowStore) Outgoing(ctx context.Context, q store.OutgoingQuery) (page store.OutgoingPage, _ error) {
	<-s.row
	defer func() { s.row <- struct{}{} }()
	page.Events = s.events[s.at:min(int(s.at)+q.Limit, len(s.events))]
	select {
	case <-time.After(time.Duration(len(page.Events)) * s.each):
	case <-ctx.Done():
		return store.OutgoingPage{}, ctx.Err()
	}
	if n := len(page.Events); n > 0 {
		page.Next, page.More = &page.Events[n-1].Position, n == q.Limit
	}
	return page, nil
}

func (s *slowStore) Published(ctx context.Context, p store.Published) error {
	select {
	case <-s.row:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { s.row <- struct{}{} }()
	if p.Next != nil {
		s.at = p.Next.Seq
	}
	return nil
}

// TestSlowDatabase: a database that can't read a page within the lease is asked for less of it, and everything arrives.
func TestSlowDatabase(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &slowStore{each: 40 * time.Millisecond, row: make(chan struct{}, 1)} // 20 s for a full page
		s.row <- struct{}{}
		for i := range int64(2000) {
			s.events = append(s.events, store.Outgoing{
				Position: store.OutgoingPosition{Tx: 1, JobID: "job", Seq: i + 1}, Kind: store.OutgoingProgress,
				ID: uuid.NewString(), At: time.Now(), JobID: "job", TaskType: "ingest", Stage: fmt.Sprint("page ", i),
			})
		}
		sink := newCollector()
		p, err := events.New(events.Config{
			Store: s, Sink: sink, ClientID: client, Worker: "w", Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
			Lease: 2 * time.Second,
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(t.Context(), 10*time.Minute)
		defer stop()
		p.Run(ctx)
		sink.mu.Lock()
		defer sink.mu.Unlock()
		if len(sink.got) < len(s.events) || s.at != int64(len(s.events)) {
			t.Errorf("%d events of %d were sent, and %d recorded", len(sink.got), len(s.events), s.at)
		}
	})
}
