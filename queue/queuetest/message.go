package queuetest

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/queue"
)

func sendAndReceive(b *bench) {
	b.none()
	before := time.Now()
	id := b.send("hello")[0]
	if depth, err := b.q.Depth(b.Context()); err != nil || depth != 1 {
		b.Errorf("depth %d, %v; want 1", depth, err)
	}
	m := b.one(time.Minute)
	if m.ID != id || id == "" || m.Text != "hello" || m.DequeueCount != 1 {
		b.Errorf("got %+v, want %q with id %q, received once", m.Peeked, "hello", id)
	}
	if age := m.InsertedAt.Sub(before).Abs(); age > time.Minute {
		b.Errorf("inserted %s from now", age)
	}
	if depth, err := b.q.Depth(b.Context()); err != nil || depth != 1 {
		b.Errorf("depth with one hidden is %d, %v; want 1", depth, err)
	}
}

// order is best effort between messages of the same moment, so they are sent one after the other and
// the first of a batch is looked at.
func order(b *bench) {
	b.send("1", "2", "3", "4", "5")
	var got []string
	for range 5 {
		got = append(got, b.await(time.Hour).Text)
	}
	if strings.Join(got, "") != "12345" {
		b.Errorf("received in the order %v", got)
	}
}

func batches(b *bench) {
	for i := range 7 {
		b.send(fmt.Sprint(i))
	}
	sizes, seen := []int{1, 4, queue.MaxBatch}, 0
	for i := 0; seen < 7; i++ {
		n := sizes[min(i, len(sizes)-1)]
		got := b.poll(n, time.Hour)
		if len(got) > n {
			b.Errorf("asked for %d, got %d", n, len(got))
		}
		seen += len(got)
	}
	if seen != 7 {
		b.Errorf("got %d of 7", seen)
	}
	b.none()
}

func peek(b *bench) {
	b.send("first", "second")
	for range 2 {
		got, err := b.q.Peek(b.Context(), queue.MaxBatch)
		b.must(err)
		if len(got) != 2 || got[0].Text != "first" || got[1].Text != "second" || got[0].DequeueCount != 0 {
			b.Fatalf("peeked %+v", got)
		}
	}
	got := b.poll(2, time.Hour)
	if len(got) == 1 {
		got = append(got, b.await(time.Hour))
	}
	if len(got) != 2 || got[0].ID == got[1].ID {
		b.Errorf("received %d after the peek, want both", len(got))
	}
	if got, err := b.q.Peek(b.Context(), 1); err != nil || len(got) != 0 {
		b.Errorf("peeked %v, %v; want to see nothing that is hidden", got, err)
	}
}

func delay(b *bench) {
	_, err := b.q.Send(b.Context(), "in an hour", queue.SendOptions{Delay: time.Hour})
	b.must(err)
	b.none()
	before := time.Now()
	_, err = b.q.Send(b.Context(), "in a second", queue.SendOptions{Delay: time.Second, TTL: time.Hour})
	b.must(err)
	if m := b.await(time.Minute); m.Text != "in a second" || time.Since(before) < 900*time.Millisecond {
		b.Errorf("got %q after %s", m.Text, time.Since(before))
	}
}

func timeToLive(b *bench) {
	for _, ttl := range []time.Duration{0, queue.Never} {
		_, err := b.q.Send(b.Context(), "kept", queue.SendOptions{TTL: ttl})
		b.must(err)
		m := b.await(time.Minute)
		if !m.ExpiresAt.IsZero() && time.Until(m.ExpiresAt) < 1000*24*time.Hour {
			b.Errorf("with TTL %d the message expires at %s", ttl, m.ExpiresAt)
		}
	}
	_, err := b.q.Send(b.Context(), "short", queue.SendOptions{TTL: time.Hour})
	b.must(err)
	if m := b.await(time.Minute); time.Until(m.ExpiresAt).Round(time.Minute) != time.Hour {
		b.Errorf("with a TTL of an hour the message expires in %s", time.Until(m.ExpiresAt))
	}
}

func texts(b *bench) {
	for name, text := range map[string]string{
		"JSON":                       `{"task_id":"a","payload":{"q":"'<&>\"]]>"}}`,
		"unicode":                    "Grüße, 你好, \U0001F680, \u2028",
		"spaces at the ends":         "  \n\ttext \n ",
		"control characters":         "a\x00b\x01c\x1fd",
		"bad UTF-8":                  "a\xffb\xc0\xafc",
		"carriage returns":           "a\r\nb\rc",
		"characters that XML denies": "a\ufffeb\uffffc",
		"64 KiB":                     strings.Repeat("x", 64<<10),
		"64 KiB of quotes":           strings.Repeat(`"`, 64<<10),
		"64 KiB of angles":           strings.Repeat("<", 64<<10),
		"nothing":                    "",
		"base64":                     "eyJhIjoxfQ==",
		"an entity":                  "&amp;&#x1;",
	} {
		b.send(text)
		peeked, err := b.q.Peek(b.Context(), 1)
		b.must(err)
		if len(peeked) != 1 || !isText(peeked[0].Text, text) {
			b.Errorf("%s: peeked %.200s", name, fmt.Sprint(peeked))
		}
		m := b.await(time.Minute)
		if !isText(m.Text, text) {
			b.Errorf("%s: got %.60q (%d bytes), want %.60q (%d bytes)", name, m.Text, len(m.Text), text, len(text))
		}
		stored := m.Text
		b.must(m.Lease.Extend(b.Context(), time.Minute))
		b.must(m.Lease.Release(b.Context(), 0))
		m = b.await(time.Minute)
		if m.Text != stored {
			b.Errorf("%s: after an extension and a release it is %.60q (%d bytes)", name, m.Text, len(m.Text))
		}
		b.must(m.Lease.Delete(b.Context()))
	}
}

func tooLarge(b *bench) {
	_, err := b.q.Send(b.Context(), strings.Repeat("x", 64<<10+1), queue.SendOptions{})
	b.wantErr(err, queue.ErrTooLarge)
	b.none()
}

func notFound(b *bench) {
	q := b.service.Queue(b.absent)
	_, err := q.Send(b.Context(), "x", queue.SendOptions{})
	b.wantErr(err, queue.ErrNotFound)
	_, err = q.Receive(b.Context(), 1, time.Second)
	b.wantErr(err, queue.ErrNotFound)
	_, err = q.Peek(b.Context(), 1)
	b.wantErr(err, queue.ErrNotFound)
	_, err = q.Depth(b.Context())
	b.wantErr(err, queue.ErrNotFound)
}

func ensureTwice(b *bench) {
	b.send("kept")
	b.must(b.q.Ensure(b.Context()))
	b.must(b.service.Queue(b.q.Name()).Ensure(b.Context()))
	if m := b.one(time.Minute); m.Text != "kept" {
		b.Errorf("got %q", m.Text)
	}
}

func outOfRange(b *bench) {
	b.send("untouched")
	for _, n := range []int{-1, 0, queue.MaxBatch + 1} {
		if _, err := b.q.Receive(b.Context(), n, time.Minute); err == nil {
			b.Errorf("receiving %d was accepted", n)
		}
		if _, err := b.q.Peek(b.Context(), n); err == nil {
			b.Errorf("peeking at %d was accepted", n)
		}
	}
	for _, v := range []time.Duration{-time.Second, 0, 8 * 24 * time.Hour} {
		if _, err := b.q.Receive(b.Context(), 1, v); err == nil {
			b.Errorf("a visibility of %s was accepted", v)
		}
	}
	m := b.one(time.Minute)
	if m.DequeueCount != 1 {
		b.Errorf("a refused receive was counted")
	}
	if err := m.Lease.Extend(b.Context(), 0); err == nil {
		b.Error("extending by 0 was accepted")
	}
}

func canceled(b *bench) {
	b.send("x")
	m := b.one(time.Minute)
	ctx, cancel := context.WithCancel(b.Context())
	cancel()
	_, sendErr := b.q.Send(ctx, "y", queue.SendOptions{})
	_, receiveErr := b.q.Receive(ctx, 1, time.Second)
	for _, err := range []error{sendErr, receiveErr, m.Lease.Extend(ctx, time.Second), m.Lease.Release(ctx,
		0), m.Lease.Delete(ctx), b.q.Ensure(ctx)} {
		b.wantErr(err, context.Canceled)
	}
	b.must(m.Lease.Extend(b.Context(), time.Minute))
}
