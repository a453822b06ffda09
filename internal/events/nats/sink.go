// Package nats sends events to NATS: each to the subject of its type, structured, with its id as Nats-Msg-Id.
//
// If a stream of JetStream covers the subject, the event counts as sent when the stream has acknowledged it, and the
// stream drops what it has already. Otherwise it is published for those who listen now, and counts when the server has
// got it. Which of the two holds is asked of JetStream, and asked again after a minute: a stream without a leader does
// not answer, as if there were none.
//
// Source: https://docs.nats.io/nats-concepts/jetstream, and
// https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/nats-protocol-binding.md.
package nats

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/seed-7227ef26/async-worker/internal/events"
	"github.com/seed-7227ef26/async-worker/internal/natsconn"
)

// Options qualify New.
type Options struct {
	URL     string        // required: one or more addresses, separated by commas
	Key     string        // the content of a .creds file, the seed of an NKey, or a token; empty: none, or in URL
	Owner   string        // the tenant, whose inbox answers come to; empty: that of all users of the account
	Timeout time.Duration // of one request; default 5 s
	Log     *slog.Logger  // required
}

const (
	inFlight  = 16          // events at a time, of as many jobs
	coverage  = time.Minute // for how long is known what covers a subject
	headroom  = 1 << 10     // bytes of a message for subject and headers
	structure = "application/cloudevents+json; charset=utf-8"
)

// Sink is an events.Sink.
type Sink struct {
	o    Options
	opts []nats.Option

	asking  sync.Mutex // held while JetStream is asked; before mu
	mu      sync.Mutex
	conn    *nats.Conn // nil: not connected yet
	js      jetstream.JetStream
	closed  bool
	covered map[string]cover // by subject
	denied  error            // the last refusal of a subject that was returned
}

// cover says whether a stream covers a subject.
type cover struct {
	stream bool
	until  time.Time
}

// New returns a sink. It does not touch the network: the first Send connects.
func New(o Options) (*Sink, error) {
	if o.Timeout <= 0 {
		o.Timeout = 5 * time.Second
	}
	s := &Sink{o: o, covered: map[string]cover{}}
	var err error
	if s.opts, err = login(o.Key); err != nil {
		return nil, err
	}
	s.opts = append(s.opts, nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})) // it would print them
	return s, nil
}

// Close implements events.Sink.
func (s *Sink) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.conn != nil {
		s.conn.Close()
	}
}

// denial returns the last refusal of a subject, once. The client has noted it when a flush returns; its ErrorHandler may
// be called later.
func (s *Sink) denial(conn *nats.Conn) error {
	err := conn.LastError()
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == s.denied { //nolint:errorlint // the same refusal, not the same kind
		return nil
	}
	s.denied = err
	return err
}

func (s *Sink) connected() (*nats.Conn, jetstream.JetStream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, nil, nats.ErrConnectionClosed
	case s.conn != nil && !s.conn.IsClosed(): // an error that the client doesn't know closes it for good
		return s.conn, s.js, nil
	}
	conn, shared, err := connect(s.o, s.opts...)
	if err != nil {
		return nil, nil, err
	}
	if shared != nil {
		s.o.Log.Warn("NATS denies the tenant's inbox, so answers about events come to that of all users of the account; "+
			"allow it and restart (docs/events.md)", "inbox", natsconn.Inbox(s.o.Owner)+".>", "error", shared)
	}
	js, err := jetstream.New(conn, jetstream.WithDefaultTimeout(s.o.Timeout))
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	s.conn, s.js = conn, js
	return conn, js, nil
}

// Send implements events.Sink. Events of one job are sent one after the other, each when the one before has arrived;
// those of several jobs at the same time.
func (s *Sink) Send(ctx context.Context, all []events.Event) (events.Sent, error) {
	conn, js, err := s.connected()
	if err != nil {
		return events.Sent{}, err
	}
	jobs := map[string][]int{}
	var order []string
	for i, e := range all {
		if _, ok := jobs[e.Job]; !ok {
			order = append(order, e.Job)
		}
		jobs[e.Job] = append(jobs[e.Job], i)
	}
	became := make([]outcome, len(all))
	sending, ctx := errgroup.WithContext(ctx)
	sending.SetLimit(inFlight)
	for _, job := range order {
		sending.Go(func() error {
			for _, i := range jobs[job] {
				var err error
				if became[i], err = s.publish(ctx, conn, js, all[i]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err = sending.Wait()
	denied := s.denial(conn)
	if denied != nil {
		err = fmt.Errorf("%w; allow the login to publish to this subject", denied)
	}
	var sent events.Sent
	for ; sent.Done < len(all) && became[sent.Done].settled; sent.Done++ {
		if denied != nil && !became[sent.Done].stream {
			break // it may be what was denied
		}
		if became[sent.Done].reduced {
			sent.Reduced++
		}
		if why := became[sent.Done].refused; why != nil {
			sent.Refused = append(sent.Refused, events.Refusal{Event: all[sent.Done], Cause: why})
		}
	}
	if err != nil {
		return sent, fmt.Errorf("NATS at %s: %w", hosts(s.o.URL), err)
	}
	return sent, nil
}

// outcome is what became of an event.
type outcome struct {
	settled bool
	stream  bool  // a stream answered it; else nobody does, also if the server denied it
	reduced bool  // its result was left out
	refused error // it is too large even so; nil: it arrived
}

// JetStream's error codes. Source: server/errors.json of nats-server.
const (
	tooLarge    jetstream.ErrorCode = 10054 // larger than the stream's max_msg_size
	storeFailed jetstream.ErrorCode = 10077 // such as a full stream that discards new messages
)

// publish sends one event; without its result if it is too large with it.
func (s *Sink) publish(
	ctx context.Context, conn *nats.Conn, js jetstream.JetStream, e events.Event,
) (o outcome, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.o.Timeout)
	defer cancel()
	if o.stream, err = s.covers(ctx, js, e.Type); err != nil {
		return o, err
	}
	for {
		limit := conn.MaxPayload()
		err := errTooLarge
		if limit <= 0 || int64(len(e.Body)) <= limit-headroom {
			err = s.send(ctx, conn, js, e, o.stream)
		}
		switch {
		case err == nil:
			o.settled = true
			return o, nil
		case !errors.Is(err, errTooLarge) && !s.neverFits(ctx, js, e, err):
			return o, err
		case o.reduced:
			o.settled, o.refused = true, err
			return o, nil
		}
		if e, err = e.Reduced(); err != nil {
			return o, err
		}
		o.reduced = true
	}
}

// neverFits reports whether a stream refuses an event for its size, and not because it is full at the moment. If the
// event may be larger than all of the stream, the stream is asked for its max_bytes; without the right to ask it counts
// as full.
func (s *Sink) neverFits(ctx context.Context, js jetstream.JetStream, e events.Event, err error) bool {
	refusal, _ := errors.AsType[*jetstream.APIError](err)
	if refusal == nil || refusal.ErrorCode != storeFailed || !strings.Contains(refusal.Description, "maximum bytes") {
		return refusal != nil && refusal.ErrorCode == tooLarge
	}
	name, err := js.StreamNameBySubject(ctx, e.Type)
	if err != nil {
		return false
	}
	stream, err := js.Stream(ctx, name)
	atLeast := len(e.Body) + len(e.Type) + len(e.ID) + len(structure)
	return err == nil && int64(atLeast) > stream.CachedInfo().Config.MaxBytes
}

var errTooLarge = errors.New("the event is larger than a message may be (max_payload)")

func (s *Sink) send(
	ctx context.Context, conn *nats.Conn, js jetstream.JetStream, e events.Event, stream bool,
) error {
	m := nats.NewMsg(e.Type)
	m.Header.Set(jetstream.MsgIDHeader, e.ID)
	m.Header.Set("Content-Type", structure)
	m.Data = e.Body
	if !stream {
		if err := conn.PublishMsg(m); err != nil {
			return err
		}
		return conn.FlushWithContext(ctx)
	}
	_, err := js.PublishMsg(ctx, m)
	if errors.Is(err, jetstream.ErrNoStreamResponse) {
		s.forget(e.Type) // it has no leader, or it was removed: the next attempt asks
	}
	return err
}

// covers reports whether a stream covers a subject. An error means that nobody knows.
func (s *Sink) covers(ctx context.Context, js jetstream.JetStream, subject string) (bool, error) {
	s.asking.Lock() // one asks for all
	defer s.asking.Unlock()
	s.mu.Lock()
	known, ok := s.covered[subject]
	s.mu.Unlock()
	if ok && time.Now().Before(known.until) {
		return known.stream, nil
	}
	_, err := js.StreamNameBySubject(ctx, subject)
	stream := err == nil
	switch {
	case err == nil:
	case errors.Is(err, jetstream.ErrStreamNotFound), errors.Is(err, jetstream.ErrJetStreamNotEnabled),
		errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount), errors.Is(err, nats.ErrNoResponders):
		if !ok || known.stream {
			s.o.Log.Warn("no stream of JetStream covers a subject; events reach only those who listen at the moment",
				"subject", subject)
		}
	default:
		return false, fmt.Errorf("ask which stream covers %s ($JS.API.STREAM.NAMES): %w", subject, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.covered) >= 1000 { // types of rejected messages may be anything
		clear(s.covered)
	}
	s.covered[subject] = cover{stream, time.Now().Add(coverage)}
	return stream, nil
}

func (s *Sink) forget(subject string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.covered, subject)
}

// Probe implements events.Sink: it connects, and asks JetStream for a stream.
func (s *Sink) Probe(ctx context.Context) error {
	conn, js, err := s.connected()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.o.Timeout)
	defer cancel()
	if err := conn.FlushWithContext(ctx); err != nil {
		return fmt.Errorf("NATS at %s: %w", hosts(s.o.URL), err)
	}
	_, err = s.covers(ctx, js, "ocr.job.started")
	return err
}
