package nats

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
)

// ownerKey is where stream and consumers note whose they are.
const ownerKey = "async-worker-client"

// subject is where a queue's messages are published.
func (s *service) subject(name string) string {
	if subject := s.Subjects[name]; subject != "" {
		return subject
	}
	return name
}

// subjects are those of the stream that a queue is in.
func (s *service) subjects(name string) []string {
	if s.Subjects[name] == "" {
		return []string{name}
	}
	return slices.Sorted(maps.Values(s.Subjects))
}

// durable is the name of the queue's consumer: the group, and what its subject has more than the shortest of the
// stream's, as in ocr-workers-high.
func (s *service) durable(name string) string {
	subject := s.subject(name)
	if s.Subjects[name] == "" {
		return s.Group + "-" + plain(subject)
	}
	base := slices.MinFunc(slices.Collect(maps.Values(s.Subjects)), func(a, b string) int { return len(a) - len(b) })
	if rest := plain(strings.TrimPrefix(subject, base)); rest != "" {
		return s.Group + "-" + rest
	}
	return s.Group
}

// plain is a subject as part of a name: letters, digits, - and _.
func plain(subject string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, subject), "-")
}

// streamName is the name of a stream that is created, as in SIMPLE-PROCESS-JOBS.
func streamName(subjects []string) string {
	return strings.ToUpper(plain(slices.MinFunc(subjects, func(a, b string) int { return len(a) - len(b) })))
}

// Ensure implements queue.Queue. A stream that captures the subject is used if it fits; else one is created.
func (q *natsQueue) Ensure(ctx context.Context) error {
	err := q.request(ctx, "ensure", func(ctx context.Context, w wire) error {
		stream, err := q.findStream(ctx, w)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			stream, err = q.createStream(ctx, w)
		}
		if err != nil {
			return err
		}
		c := stream.CachedInfo().Config
		if err := q.checkStream(c); err != nil {
			return err
		}
		q.warn(c, w.MaxPayload())
		return q.ensureConsumer(ctx, stream)
	})
	return q.explain(ctx, "create", err)
}

// createStream creates the work-queue stream: a message is removed once it is acknowledged. A full stream refuses new
// messages; by default only the account's limits apply.
func (q *natsQueue) createStream(ctx context.Context, w wire) (jetstream.Stream, error) {
	subjects := q.subjects(q.name)
	stream, err := w.js.CreateStream(ctx, jetstream.StreamConfig{
		Name: streamName(subjects), Subjects: subjects, Description: "tasks of async-worker",
		Retention: jetstream.WorkQueuePolicy, Storage: jetstream.FileStorage, Discard: jetstream.DiscardNew,
		AllowDirect: true, Metadata: q.metadata(),
	})
	if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // another worker was sooner, or it lacks a subject
		if found, findErr := q.findStream(ctx, w); findErr == nil {
			return found, nil
		}
		return nil, &Misconfigured{
			fmt.Sprintf("create queue %q", q.name),
			fmt.Sprintf("the stream %s exists, but does not capture the subject %s", streamName(subjects), q.subject),
			"add the subject to it",
		}
	}
	if refused, ok := errors.AsType[*jetstream.APIError](err); ok && refused.ErrorCode == overlaps {
		return nil, &Misconfigured{
			fmt.Sprintf("create queue %q", q.name),
			fmt.Sprintf("another stream than %s captures one of the subjects %s", streamName(subjects),
				strings.Join(subjects, ", ")),
			"use subjects of your own (NATS_SUBJECT); if the other stream is this tenant's, let it capture them all, and " +
				"allow the login to publish to " + namesSubject,
		}
	}
	return stream, err
}

func (q *natsQueue) metadata() map[string]string {
	if q.Owner == "" {
		return nil
	}
	return map[string]string{ownerKey: q.Owner}
}
