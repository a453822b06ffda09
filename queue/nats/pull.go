package nats

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// grace is for how long the server waits for a first message that may be on its way. It covers the moment between the
// answer to a publisher and the message's way to the consumer.
const grace = 20 * time.Millisecond

// pull asks for up to n messages, and returns as soon as there are any. It waits only if one may come: a worker asks
// several queues in turn. The client's Fetch waits for all n, and its FetchNoWait does not wait at all.
// Source: ADR-13, "no_wait" with "expires".
func (q *natsQueue) pull(ctx context.Context, w wire, consumer jetstream.Consumer, n int) ([]*nats.Msg, error) {
	if !w.IsConnected() {
		return nil, nats.ErrConnectionReconnecting
	}
	wait := grace
	if !q.mayCome() {
		wait = 0
	}
	request, err := json.Marshal(struct {
		Batch   int           `json:"batch"`
		NoWait  bool          `json:"no_wait"`
		Expires time.Duration `json:"expires,omitempty"`
	}{n, true, wait})
	if err != nil {
		return nil, err
	}
	inbox := w.NewInbox()
	// Room for the messages and the status that ends them; SubscribeSync makes room for half a million, 4 MB.
	answers := make(chan *nats.Msg, n+maxStatus)
	sub, err := w.ChanSubscribe(inbox, answers)
	if err != nil {
		return nil, err
	}
	defer func() { _ = sub.Unsubscribe() }() // fails only without a connection
	info := consumer.CachedInfo()
	if err := w.PublishRequest(fmt.Sprintf(nextSubject, info.Stream, info.Name), inbox, request); err != nil {
		return nil, err
	}
	var all []*nats.Msg
	for len(all) < n {
		var m *nats.Msg
		select {
		case m = <-answers:
		case <-ctx.Done():
			return all, ctx.Err()
		}
		status := m.Header.Get("Status")
		switch {
		case m.Reply != "": // to acknowledge it; a publisher may set any header
			all = append(all, m)
		case status == "100": // a heartbeat
		case status == "404" || status == "408": // no more messages
			return all, nil
		case status == "503":
			return all, nats.ErrNoResponders
		default: // as 409 Consumer Deleted
			return all, fmt.Errorf("NATS ended the pull with %s %s", status, m.Header.Get("Description"))
		}
	}
	return all, nil
}

// maxStatus is how many messages of the server itself may come beside those of the stream.
const maxStatus = 4

// nextSubject is where messages of a stream's consumer are requested.
const nextSubject = "$JS.API.CONSUMER.MSG.NEXT.%s.%s"
