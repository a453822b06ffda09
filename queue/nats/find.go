package nats

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
)

// Subjects of JetStream's API. Source: ADR-1 of https://github.com/nats-io/nats-architecture-and-design.
const (
	infoSubject  = "$JS.API.STREAM.INFO."
	namesSubject = "$JS.API.STREAM.NAMES"
)

// findStream returns the stream that captures the queue's subject. It looks at the one that the worker would create
// first. So the right to ask for the names, which tells those of all streams of the account, is needed only for a stream
// of another name; without it there is none.
func (q *natsQueue) findStream(ctx context.Context, w wire) (jetstream.Stream, error) {
	own := streamName(q.subjects(q.name))
	looking, stop := q.denial.expect(ctx, infoSubject+own)
	stream, err := w.js.Stream(looking, own)
	unseen := deniedIn(looking)
	stop()
	switch {
	case err == nil && captures(stream.CachedInfo().Config, q.subject):
		return stream, nil
	case err != nil && unseen == nil && !errors.Is(err, jetstream.ErrStreamNotFound):
		return nil, err
	}
	asking, stop := q.denial.expect(ctx, namesSubject)
	name, err := w.js.StreamNameBySubject(asking, q.subject)
	nameless := deniedIn(asking)
	stop()
	switch {
	case nameless != nil && unseen != nil:
		q.denial.note(unseen) // the right to ask for
		return nil, unseen
	case nameless != nil:
		return nil, jetstream.ErrStreamNotFound
	case err != nil:
		return nil, err
	}
	return w.js.Stream(ctx, name)
}

// captures reports whether one of a stream's subjects, which may have wildcards, covers a subject, which has none.
func captures(c jetstream.StreamConfig, subject string) bool {
	return slices.ContainsFunc(c.Subjects, func(pattern string) bool { return covers(pattern, subject) })
}

func covers(pattern, subject string) bool {
	want := strings.Split(subject, ".")
	have := strings.Split(pattern, ".")
	for i, token := range have {
		switch {
		case i == len(want):
			return false
		case token == ">":
			return true
		case token != "*" && token != want[i]:
			return false
		}
	}
	return len(have) == len(want)
}
