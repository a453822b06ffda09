package nats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
)

// ensureConsumer creates the durable consumer, or corrects it.
func (q *natsQueue) ensureConsumer(ctx context.Context, stream jetstream.Stream) error {
	existing, err := stream.Consumer(ctx, q.durable)
	want := jetstream.ConsumerConfig{
		Durable: q.durable, Description: "workers of async-worker", FilterSubject: q.subject,
		AckPolicy: jetstream.AckExplicitPolicy, AckWait: cmp.Or(q.Lease, defaultLease),
		// Attempts are counted in the job's row; an exhausted message would stay in the stream for ever.
		MaxDeliver: -1,
		// A message that waits for its retry counts as pending.
		MaxAckPending: -1,
		Metadata:      q.metadata(),
	}
	switch {
	case errors.Is(err, jetstream.ErrConsumerNotFound):
	case err != nil:
		return err
	default:
		c := existing.CachedInfo().Config
		if err := q.checkConsumer(stream.CachedInfo().Config, c); err != nil {
			return err
		}
		// Others rely on it. Who wants another visibility sends it with each message.
		want.AckWait = c.AckWait
		if fits(c, want) {
			q.use(stream, existing)
			return q.claim(ctx, stream, c)
		}
	}
	consumer, err := stream.CreateOrUpdateConsumer(ctx, want)
	if err != nil {
		return err
	}
	q.use(stream, consumer)
	return nil
}

// fits reports whether a consumer does what the wanted one does. One that sends headers only would make a dead letter
// without a text of each message; one with a backoff has another AckWait for each delivery; one with limits refuses pulls.
func fits(c, want jetstream.ConsumerConfig) bool {
	return slices.Equal(filters(c), filters(want)) && c.AckPolicy == want.AckPolicy && c.MaxDeliver == want.MaxDeliver &&
		c.MaxAckPending == want.MaxAckPending && !c.HeadersOnly && len(c.BackOff) == 0 && c.MaxRequestBatch == 0 &&
		c.MaxRequestExpires == 0 && len(c.PriorityGroups) == 0
}

// checkConsumer refuses a consumer of another tenant, and one that somebody else has for other messages: to change its
// filter would take them away.
func (q *natsQueue) checkConsumer(stream jetstream.StreamConfig, c jetstream.ConsumerConfig) error {
	owner := c.Metadata[ownerKey]
	own := owner != "" && owner == q.Owner
	const remedy = "give each tenant a stream and subjects of its own (NATS_SUBJECT)"
	switch have := filters(c); {
	case owner != "" && q.Owner != "" && !own:
		return q.unsuitable(fmt.Sprintf("the consumer %s of the stream %s belongs to the client %s", c.Durable, stream.Name,
			owner), remedy)
	case own, slices.Equal(have, []string{q.subject}):
		return nil
	case len(have) == 0 && !slices.ContainsFunc(stream.Subjects, q.foreign): // it has all of it, which is ours
		return nil
	default:
		return q.unsuitable(fmt.Sprintf("the consumer %s of the stream %s takes %s, and not %s", c.Durable, stream.Name,
			cmp.Or(strings.Join(have, ", "), "all subjects"), q.subject), remedy+", or delete the consumer if nobody uses it")
	}
}

// foreign reports whether a subject of a stream is none of this tenant's.
func (q *natsQueue) foreign(subject string) bool {
	return !slices.Contains(q.subjects(q.name), subject)
}

// filters are the subjects that a consumer takes; none: all.
func filters(c jetstream.ConsumerConfig) []string {
	if c.FilterSubject != "" {
		return []string{c.FilterSubject}
	}
	return c.FilterSubjects
}

// claim notes the owner in a consumer that fits and has none, if the server lets it.
func (q *natsQueue) claim(ctx context.Context, stream jetstream.Stream, c jetstream.ConsumerConfig) error {
	if q.Owner == "" || c.Metadata[ownerKey] != "" {
		return nil
	}
	c.Metadata = maps.Clone(c.Metadata)
	if c.Metadata == nil {
		c.Metadata = map[string]string{}
	}
	c.Metadata[ownerKey] = q.Owner
	subject := "$JS.API.CONSUMER.CREATE." + stream.CachedInfo().Config.Name + "." + c.Durable
	if len(c.FilterSubjects) == 0 {
		subject += "." + c.FilterSubject
	}
	asking, stop := q.denial.expect(ctx, subject)
	defer stop()
	consumer, err := stream.UpdateConsumer(asking, c)
	if _, refused := errors.AsType[*jetstream.APIError](err); refused || deniedIn(asking) != nil {
		return nil // it works without
	}
	if err == nil {
		q.use(stream, consumer)
	}
	return err
}
