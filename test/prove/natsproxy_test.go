package main

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-7227ef26/async-worker/queue/nats/natstest"
)

const impatience = 200 * time.Millisecond

// natsCase is a request of the worker, and how to see whether it was carried out.
type natsCase struct {
	class string
	send  func(conn *nats.Conn, delivered string) error
	// visible and kept are how many messages are neither held nor done, and how many are not done, afterwards.
	visible, kept int
}

// natsCases are requests when one of two messages is held.
func natsCases() []natsCase {
	ask := func(text string) func(*nats.Conn, string) error {
		return func(conn *nats.Conn, delivered string) error {
			_, err := conn.Request(delivered, []byte(text), natstest.Patience)
			return err
		}
	}
	return []natsCase{
		{"dequeue", pull, 0, 2},
		{"delete", ask("+ACK"), 1, 1},
		{"renew", ask("-NAK"), 2, 2},
	}
}

// pull receives a message as the queue does: its answers come to a subscription of their own.
func pull(conn *nats.Conn, _ string) error {
	inbox := conn.NewInbox()
	sub, err := conn.SubscribeSync(inbox)
	if err != nil {
		return err
	}
	if err := conn.PublishRequest("$JS.API.CONSUMER.MSG.NEXT.c.ocr-workers", inbox,
		[]byte(`{"batch":1,"no_wait":true}`)); err != nil {
		return err
	}
	m, err := sub.NextMsg(natstest.Patience)
	if err == nil && m.Subject != "c.jobs" {
		err = fmt.Errorf("the answer is of %s", m.Subject)
	}
	return err
}

// TestNATSProxy: the request of a dropped answer was carried out, a cut request never was.
func TestNATSProxy(t *testing.T) {
	t.Parallel()
	for _, tt := range natsCases() {
		for what, want := range map[fault]struct{ done, answered bool }{
			passOn: {true, true}, cutBefore: {false, false}, dropAnswer: {true, false}, delayed: {true, true},
		} {
			ctx := t.Context()
			behind := natstest.Start(t, nil)
			js := natstest.Connect(t, behind.URL())
			q, consumer, delivered := heldMessage(ctx, t, &natsBed{js: js})
			plan := newFaultPlan()
			plan.plan(tt.class, 1, what)
			at := addresses{nats: behind.URL()}
			p, err := (*natsBed)(nil).intercept(&at, plan)
			if err != nil {
				t.Fatal(err)
			}
			conn := natstest.Connect(t, at.nats, nats.NoReconnect()).Conn()
			if err := tt.send(conn, delivered); (err == nil) != want.answered {
				t.Errorf("%s, %q: the client got %v", tt.class, what, err)
			}
			visible, kept := 1, 2
			if want.done {
				visible, kept = tt.visible, tt.kept
			}
			expectMessages(ctx, t, fmt.Sprintf("%s, %q", tt.class, what), q, consumer, visible, kept)
			conn.Close()
			p.close()
			js.Conn().Close()
			behind.Stop()
		}
	}
}

func expectMessages(
	ctx context.Context, t *testing.T, when string, q *natsTenant, consumer jetstream.Consumer, visible, kept int,
) {
	t.Helper()
	batch, err := consumer.FetchNoWait(9)
	if err != nil {
		t.Fatal(err)
	}
	got := 0
	for range batch.Messages() {
		got++
	}
	depth, err := q.depth(ctx)
	if err != nil || got != visible || depth != kept {
		t.Errorf("%s: %d messages are visible and %d are kept (%v), want %d and %d", when, got, depth, err, visible, kept)
	}
}

// TestNATSClasses names the requests that no other test does.
func TestNATSClasses(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]string{
		"PUB c.jobs.deadletter _INBOX.a.b 2\r\nhi\r\n":                        "send",
		"HPUB c.jobs.deadletter _INBOX.a.b 12 14\r\nNATS/1.0\r\n\r\nhi\r\n":   "send",
		"PUB $JS.API.CONSUMER.MSG.NEXT.c.ocr-workers-high _INBOX.a 0\r\n\r\n": "",
		"PUB $JS.ACK.c.ocr-workers-low.1.2.3.4.5 _INBOX.a 4\r\n+ACK\r\n":      "",
		"PUB $JS.ACK.c.ocr-workers.1.2.3.4.5 _INBOX.a 4\r\n+WPI\r\n":          "renew",
		"PUB c.jobs 0\r\n\r\n":   "",
		"SUB c.jobs group 7\r\n": "",
		"PING\r\n":               "",
	} {
		f, err := readNATS(bufio.NewReaderSize(strings.NewReader(sent), maxNATSLine))
		if err != nil || string(f.raw) != sent || natsClass(f) != want {
			t.Errorf("%q: %+v, %v, class %q, want %q", sent, f, err, natsClass(f), want)
		}
	}
	for _, sent := range []string{"PUB c.jobs\r\n", "PUB c.jobs -1\r\n", "PUB c.jobs 5\r\nhi\r\n", "SUB c.jobs\r\n"} {
		if _, err := readNATS(bufio.NewReaderSize(strings.NewReader(sent), maxNATSLine)); err == nil {
			t.Errorf("%q is read", sent)
		}
	}
}

// heldMessage makes a queue with two messages, of which one was delivered. It is acknowledged at delivered.
func heldMessage(ctx context.Context, t *testing.T, bed *natsBed) (*natsTenant, jetstream.Consumer, string) {
	t.Helper()
	opened, err := bed.open(ctx, "c")
	if err != nil {
		t.Fatal(err)
	}
	q := opened.(*natsTenant)
	// Before the consumer is there: one that is hears of them later, and answers until then that there are none.
	for range 2 {
		if err := q.send(ctx, "task"); err != nil {
			t.Fatal(err)
		}
	}
	consumer, err := q.stream.CreateConsumer(ctx, jetstream.ConsumerConfig{
		Durable: "ocr-workers", FilterSubject: q.subject, AckPolicy: jetstream.AckExplicitPolicy,
	})
	if err != nil {
		t.Fatal(err)
	}
	m, err := consumer.Next()
	if err != nil {
		t.Fatal(err)
	}
	return q, consumer, m.Reply()
}

// TestNATSProxyOutOfOrder: requests fail while the server is cut off, and work afterwards.
func TestNATSProxyOutOfOrder(t *testing.T) {
	t.Parallel()
	behind := natstest.Start(t, nil)
	for _, how := range []failing{refuses, hangs} {
		at := addresses{nats: behind.URL()}
		p, err := (*natsBed)(nil).intercept(&at, newFaultPlan())
		if err != nil {
			t.Fatal(err)
		}
		conn := natstest.Connect(t, at.nats, nats.NoReconnect()).Conn()
		if err := conn.FlushTimeout(natstest.Patience); err != nil {
			t.Errorf("%s: before the cut: %v", how, err)
		}
		p.cut(how)
		if conn.FlushTimeout(impatience) == nil {
			t.Errorf("%s: the server answers", how)
		}
		if c, err := nats.Connect(at.nats, nats.Timeout(impatience)); err == nil {
			c.Close()
			t.Errorf("%s: a connection was made", how)
		}
		if err := p.mend(); err != nil {
			t.Fatal(err)
		}
		conn.Close()
		natstest.Connect(t, at.nats).Conn().Close()
		p.close()
	}
}
