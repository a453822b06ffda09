package events_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/events"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// TestRefusedAlone: an event that the sink refuses while there is no other one, as after a restart, does not keep those
// that are written later from arriving: the sink leaves it out once it takes one of them. Until then the waits grow.
func TestRefusedAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &slowStore{row: make(chan struct{}, 1)}
		add := func() {
			s.events = append(s.events, store.Outgoing{
				Position: store.OutgoingPosition{Tx: 1, JobID: "job", Seq: int64(len(s.events) + 1)},
				Kind:     store.OutgoingStarted, ID: uuid.NewString(), At: time.Now(), JobID: "job", TaskType: "ocr",
			})
		}
		add()
		refused := s.events[0].ID
		s.row <- struct{}{}
		var sends []time.Time
		sink := newCollector()
		sink.do = func(_ context.Context, all []events.Event) (events.Sent, error) {
			sends = append(sends, time.Now())
			refusal := errors.New("400")
			switch {
			case all[0].ID != refused:
				return events.Sent{Done: len(all)}, nil
			case len(all) == 1:
				return events.Sent{}, refusal
			}
			return events.Sent{Done: len(all), Refused: []events.Refusal{{Event: all[0], Cause: refusal}}}, nil
		}
		p, err := events.New(events.Config{
			Store: s, Sink: sink, ClientID: client, Worker: "w", Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(20*time.Second, func() { <-s.row; add(); s.row <- struct{}{} })
		time.AfterFunc(time.Hour, stop)
		p.Run(ctx)
		if s.at != 2 {
			t.Errorf("the position is %d, want 2: the later event waits for the refused one", s.at)
		}
		var waits []time.Duration
		for i := range sends[1:] {
			waits = append(waits, sends[i+1].Sub(sends[i]))
		}
		if len(waits) < 4 || len(waits) > 6 || !slices.IsSorted(waits) {
			t.Errorf("waits %v, want some that grow until the later event is there", waits)
		}
	})
}
