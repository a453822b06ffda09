package webhook_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/webhook"
)

// noFiles is what a dialer returns when this process has no file descriptor left.
var noFiles = &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("socket", syscall.EMFILE)}

// A machine without open files is not a receiver that is down: the webhooks wait, those that are sent once too, no
// attempt counts, and they go out soon after it has them.
func TestLoopWithoutOpenFiles(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		box := &outbox{outages: map[string]outage{}}
		var rows []*row
		for i := range 40 {
			rows = append(rows, box.add(fmt.Sprint("hook-", i), fmt.Sprintf("https://host%d.example/", i%9)))
			rows[i].Once = i%2 == 0
		}
		var log logBuffer
		var short atomic.Bool
		short.Store(true)
		to := &receivers{answer: func(context.Context, store.Delivery) webhook.Attempt {
			if short.Load() {
				return webhook.Attempt{Err: fmt.Errorf("the receiver can't be reached: %w", noFiles), Unreachable: true}
			}
			return webhook.Attempt{Status: 200}
		}}
		run(t, webhook.Config{Deliveries: box, Sender: to, Log: log.log()})
		advance(2 * time.Hour)
		if n := to.attempts(); n > 16*140 {
			t.Errorf("%d requests in two hours", n)
		}
		if len(box.outages) > 0 {
			t.Errorf("outages: %v", box.outages)
		}
		for _, r := range rows {
			if got := box.state(r); got.status != store.DeliveryPending || len(got.history) > 0 {
				t.Fatalf("%s: %s, %+v; want it pending, without an attempt", r.ID, got.status, got.history)
			}
		}
		short.Store(false)
		advance(2 * time.Minute)
		for _, r := range rows {
			if got := box.state(r); got.status != store.DeliveryDelivered || len(got.history) != 1 {
				t.Fatalf("%s: %s, %+v; want it delivered by the first attempt", r.ID, got.status, got.history)
			}
		}
		for part, want := range map[string]int{
			"webhooks can't be sent, they wait": 1, "raise LimitNOFILE": 1, "webhooks are sent again": 1, "not delivered": 0,
		} {
			if n := log.count(part); n != want {
				t.Errorf("%q is logged %d times, want %d", part, n, want)
			}
		}
	})
}

// Without open files names can't be resolved: that is this machine's lack, too, though the resolver keeps only its text.
func TestSendWithoutOpenFiles(t *testing.T) {
	t.Parallel()
	s := newSender(t, webhook.SenderConfig{Resolver: &net.Resolver{
		PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) { return nil, noFiles },
	}})
	a := s.Send(t.Context(), store.Delivery{ID: "msg_1", URL: "https://receiver.test/hook", Body: "{}"})
	if !taskerr.Exhausted(a.Err) {
		t.Errorf("got %v, want the machine's lack of files", a.Err)
	}
}
