// Package queuetest is the conformance suite of queue back ends: what the engine may rely on, held
// against each of them.
package queuetest

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/queue"
)

// Options say how a back end is tested. The zero value is right for one behind a network.
type Options struct {
	// Virtual runs each test in a testing/synctest bubble. The back end must not touch a network.
	Virtual bool
	// Names returns the names of a test's queue and of one that does not exist, for a back end that takes only some. Nil:
	// unique names. The test is that for which the service was made.
	Names func(t *testing.T) (name, absent string)
}

// uniqueNames are names that no other test has.
func uniqueNames(*testing.T) (name, absent string) {
	name = "test-" + strings.ToLower(rand.Text()[:12])
	return name, name + "-absent"
}

// Run holds a back end against the contract of package queue. open makes a service, once for each
// test; queues of unique names, or of Options.Names, are made in it.
func Run(t *testing.T, open func(t *testing.T) queue.Service, o Options) {
	if o.Names == nil {
		o.Names = uniqueNames
	}
	for _, c := range cases {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			if o.Virtual {
				synctest.Test(t, func(t *testing.T) { c.run(newBench(t, open(t), o)) })
				return
			}
			t.Parallel()
			c.run(newBench(t, open(t), o))
		})
	}
}

type testCase struct {
	name string
	run  func(*bench)
}

var cases = []testCase{
	{"a sent message is received with its text", sendAndReceive},
	{"messages come in their order", order},
	{"a batch is at most as large as asked for", batches},
	{"a received message is hidden until its visibility ends", visibility},
	{"extending hides for longer and keeps the text", extend},
	{"a lease that another receive ended is lost", staleLease},
	{"a released message is visible at once", releaseAtOnce},
	{"a released message is visible after its delay", releaseWithDelay},
	{"a lease ends with its release", releaseEnds},
	{"deleting twice succeeds", deleteTwice},
	{"deletes at once have their own answers", deleteTogether},
	{"peeking hides nothing", peek},
	{"receives are counted", dequeueCount},
	{"a delayed message is invisible at first", delay},
	{"a message without a TTL never expires", timeToLive},
	{"texts arrive as they were sent", texts},
	{"a text that is too large is refused", tooLarge},
	{"a queue that does not exist is said to", notFound},
	{"ensuring twice succeeds", ensureTwice},
	{"concurrent receivers never get the same message", concurrentReceivers},
	{"what is out of range is refused", outOfRange},
	{"a canceled context ends a call", canceled},
}

// bench is one test's queue and what it needs around it.
type bench struct {
	*testing.T
	service queue.Service
	q       queue.Queue
	absent  string // the name of a queue that does not exist
}

func newBench(t *testing.T, s queue.Service, o Options) *bench {
	t.Helper()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	name, absent := o.Names(t)
	b := &bench{T: t, service: s, q: s.Queue(name), absent: absent}
	b.must(b.q.Ensure(t.Context()))
	return b
}

// patience bounds every wait for something that must come. A back end on a busy machine may not answer for half a minute,
// and again.
const patience = 5 * time.Minute

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatalf("%v (cause: %v)", err, errors.Unwrap(err)) // an error of a task leaves its cause to the log
	}
}

func (b *bench) wantErr(got, want error) {
	b.Helper()
	if !errors.Is(got, want) {
		b.Fatalf("got error %v, want %v", got, want)
	}
}

func (b *bench) send(texts ...string) (ids []string) {
	b.Helper()
	for _, text := range texts {
		id, err := b.q.Send(b.Context(), text, queue.SendOptions{})
		b.must(err)
		ids = append(ids, id)
	}
	return ids
}

func (b *bench) receive(n int, visibility time.Duration) []*queue.Message {
	b.Helper()
	messages, err := b.q.Receive(b.Context(), n, visibility)
	b.must(err)
	return messages
}

// one receives exactly one message. A back end may need a moment from the answer to a sender to the receivers.
func (b *bench) one(visibility time.Duration) *queue.Message {
	b.Helper()
	messages := b.poll(queue.MaxBatch, visibility)
	if len(messages) != 1 {
		b.Fatalf("received %d messages, want 1", len(messages))
	}
	return messages[0]
}

// none checks that nothing is visible.
func (b *bench) none() {
	b.Helper()
	if messages := b.receive(1, time.Second); len(messages) != 0 {
		b.Fatalf("received %q, want nothing to be visible", messages[0].Text)
	}
}

// await receives until a message comes; it's the message's coming that is waited for, not a time.
func (b *bench) await(visibility time.Duration) *queue.Message {
	b.Helper()
	return b.poll(1, visibility)[0]
}

// poll receives until something comes.
func (b *bench) poll(n int, visibility time.Duration) []*queue.Message {
	b.Helper()
	end := time.Now().Add(patience)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if messages := b.receive(n, visibility); len(messages) > 0 {
			return messages
		}
		if time.Now().After(end) {
			b.Fatalf("no message came within %v", patience)
		}
		<-tick.C
	}
}

// isText reports whether got is text, or the base64 that a back end may make of it.
func isText(got, text string) bool {
	return got == text || got == base64.StdEncoding.EncodeToString([]byte(text))
}
