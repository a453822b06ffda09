// Package natsconn connects to NATS with an inbox of the tenant's own: answers to one tenant's requests come to subjects
// that the rights of other users of its account need not cover. queue/nats and internal/events/nats share it.
package natsconn

import (
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

// Inbox is the prefix of the subjects where answers to a tenant's requests come. Its user subscribes to Inbox + ".>".
func Inbox(tenant string) string { return "_INBOX_" + tenant }

// ErrInbox reports that the login may subscribe neither to the tenant's inbox nor to the common one. It is a
// nats.ErrPermissionViolation, too.
var ErrInbox = errors.New("NATS denies the subscription to the inbox")

// Connect connects with the tenant's inbox. If the login may not subscribe to that, which older versions did not need,
// it connects with the client's own (_INBOX), and shared says why; nil: the inbox is the tenant's, or tenant is empty.
// timeout bounds each of the two looks at the rights.
//
// A connection that is lost later is made again although the server refuses the login meanwhile, as it does while its users
// are read anew. The client would close the connection for good at the second refusal, whatever MaxReconnects says.
func Connect(url, tenant string, timeout time.Duration, opts ...nats.Option) (c *nats.Conn, shared, err error) {
	opts = append([]nats.Option{nats.IgnoreAuthErrorAbort()}, opts...)
	if tenant == "" {
		c, err = nats.Connect(url, opts...)
		return c, nil, err
	}
	c, err = dial(url, Inbox(tenant), timeout, opts)
	if !errors.Is(err, ErrInbox) {
		return c, nil, err
	}
	shared = err
	if c, err = dial(url, "", timeout, opts); errors.Is(err, ErrInbox) {
		err = shared // the right to ask for
	}
	if err != nil {
		return nil, nil, err
	}
	return c, shared, nil
}

// dial connects, and checks that answers can come. The options' handler of errors hears of what happens afterwards.
func dial(url, inbox string, timeout time.Duration, opts []nats.Option) (*nats.Conn, error) {
	var handler nats.ErrHandler
	c, err := nats.Connect(url, append(opts[:len(opts):len(opts)], func(o *nats.Options) error {
		o.InboxPrefix = inbox
		handler, o.AsyncErrorCB = o.AsyncErrorCB, func(*nats.Conn, *nats.Subscription, error) {}
		return nil
	})...)
	if err != nil {
		return nil, err
	}
	if err := answerable(c, timeout); err != nil {
		c.Close()
		return nil, err
	}
	c.SetErrorHandler(handler)
	return c, nil
}

// answerable subscribes to an inbox as the client does. The server tells of a denial before it answers the flush.
func answerable(c *nats.Conn, timeout time.Duration) error {
	sub, err := c.SubscribeSync(c.NewInbox() + ".*")
	if err != nil {
		return err
	}
	if err := c.FlushTimeout(timeout); err != nil {
		return err
	}
	if err := c.LastError(); errors.Is(err, nats.ErrPermissionViolation) {
		return fmt.Errorf("%w: %w", ErrInbox, err)
	}
	return sub.Unsubscribe()
}
