package nats_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/seed-7227ef26/async-worker/queue"
	"github.com/seed-7227ef26/async-worker/queue/nats"
	"github.com/seed-7227ef26/async-worker/queue/nats/natstest"
)

// TestTenantsOfOneAccount: with the printed rights a tenant's user gets at no stream, consumer, acknowledgement or answer
// of another tenant.
func TestTenantsOfOneAccount(t *testing.T) {
	t.Parallel()
	s := oneAccount(t, "acme", "borealis")
	makeStreams(t, s, "acme", "borealis")
	q := tenantOf(t, s, "borealis", "borealis", nats.Options{}).Queue("tasks")
	_, err := q.Send(t.Context(), "of borealis", queue.SendOptions{})
	must(t, err)
	held := await(t, q, time.Minute)

	a := &thief{Conn: natstest.Connect(t, s.URLOf("acme"), client.CustomInboxPrefix("_INBOX_acme"), client.ErrorHandler(
		func(*client.Conn, *client.Subscription, error) {})).Conn()}
	const stream, consumer, filter = "SIMPLE-PROCESS-BOREALIS-JOBS", "ocr-workers", "simple-process.borealis.jobs"
	create := fmt.Sprintf(`{"stream_name": %q, "config": {"name": "thief", "filter_subject": %q, "ack_policy": "none"}}`,
		stream, filter)
	for subject, body := range map[string]string{
		"$JS.API.CONSUMER.MSG.NEXT." + stream + "." + consumer:                              "1",
		"$JS.API.STREAM.MSG.GET." + stream:                                                  `{"seq": 1}`,
		"$JS.API.DIRECT.GET." + stream:                                                      `{"seq": 1}`,
		"$JS.API.DIRECT.GET." + stream + "." + filter:                                       "",
		"$JS.API.STREAM.MSG.DELETE." + stream:                                               `{"seq": 1}`,
		"$JS.API.STREAM.INFO." + stream:                                                     "",
		"$JS.API.STREAM.CREATE." + stream:                                                   fmt.Sprintf(`{"name": %q}`, stream),
		"$JS.API.STREAM.UPDATE." + stream:                                                   fmt.Sprintf(`{"name": %q}`, stream),
		"$JS.API.STREAM.PURGE." + stream:                                                    "",
		"$JS.API.STREAM.DELETE." + stream:                                                   "",
		"$JS.API.STREAM.SNAPSHOT." + stream:                                                 `{"deliver_subject": "_INBOX_acme.x"}`,
		"$JS.API.STREAM.NAMES":                                                              "",
		"$JS.API.STREAM.LIST":                                                               "",
		"$JS.API.CONSUMER.INFO." + stream + "." + consumer:                                  "",
		"$JS.API.CONSUMER.NAMES." + stream:                                                  "",
		"$JS.API.CONSUMER.CREATE." + stream + ".thief." + filter:                            create,
		"$JS.API.CONSUMER.CREATE." + stream:                                                 create,
		"$JS.API.CONSUMER.DURABLE.CREATE." + stream + ".thief":                              create,
		"$JS.API.CONSUMER.DELETE." + stream + "." + consumer:                                "",
		fmt.Sprintf("$JS.ACK.%s.%s.1.1.1.%d.0", stream, consumer, time.Now().UnixNano()):    "+ACK",
		fmt.Sprintf("$JS.ACK.%s.%s.SIMPLE-PROCESS-ACME-JOBS.1.1.1.0", stream, consumer):     "+ACK",
		fmt.Sprintf("$JS.ACK._.hash.%s.%s.1.1.1.%d.0", stream, consumer, time.Now().Unix()): "+ACK",
		filter: "forged",
	} {
		must(t, a.PublishRequest(subject, "_INBOX_acme.answer", []byte(body)))
		a.caught(t, subject)
	}
	// A stream of its own that sources the other one.
	sourcing := fmt.Sprintf(`{"name": "SIMPLE-PROCESS-ACME-JOBS", "sources": [{"name": %q}]}`, stream)
	must(t, a.PublishRequest("$JS.API.STREAM.CREATE.SIMPLE-PROCESS-ACME-JOBS", "_INBOX_acme.answer", []byte(sourcing)))
	a.caught(t, "a stream with another one as its source")
	// An acknowledgement by way of an answer.
	must(t, a.PublishRequest("$JS.API.CONSUMER.MSG.NEXT.SIMPLE-PROCESS-ACME-JOBS.ocr-workers",
		fmt.Sprintf("$JS.ACK.%s.%s.1.1.1.%d.0", stream, consumer, time.Now().UnixNano()), []byte("1")))
	a.caught(t, "an acknowledgement as the subject of an answer")
	for _, subject := range []string{
		filter, "simple-process.>", "_INBOX.>", "_INBOX_borealis.>", "_INBOX_*.>", "$JS.>", "$JS.ACK." + stream + ".>", ">",
	} {
		_, err := a.SubscribeSync(subject)
		must(t, err)
		a.caught(t, "a subscription to "+subject)
	}
	must(t, held.Lease.Extend(t.Context(), time.Minute))
	if depth, err := q.Depth(t.Context()); err != nil || depth != 1 {
		t.Errorf("depth %d, %v", depth, err)
	}
	must(t, held.Lease.Delete(t.Context()))
}

// thief tries what it has no right to.
type thief struct {
	*client.Conn
	last error
}

// caught checks that the server denied what was done last.
func (a *thief) caught(t *testing.T, what string) {
	t.Helper()
	must(t, a.Flush())
	err := a.LastError()
	if !errors.Is(err, client.ErrPermissionViolation) || err == a.last { //nolint:errorlint // a denial of its own
		t.Errorf("%s is not denied: %v", what, err)
	}
	a.last = err
}

// TestForgedTask: whatever a user has the server send to another tenant's subject, by naming that for an answer, is no
// task of it.
func TestForgedTask(t *testing.T) {
	t.Parallel()
	s := oneAccount(t, "acme", "borealis")
	makeStreams(t, s, "acme", "borealis")
	own := tenantOf(t, s, "acme", "acme", nats.Options{}).Queue("tasks")
	for range 3 {
		_, err := own.Send(t.Context(), "forged", queue.SendOptions{})
		must(t, err)
	}
	held := await(t, own, time.Minute)
	conn := natstest.Connect(t, s.URLOf("acme"), client.ErrorHandler(
		func(*client.Conn, *client.Subscription, error) {})).Conn()
	const stream, target = "SIMPLE-PROCESS-ACME-JOBS", "simple-process.borealis.jobs"
	for _, c := range [][2]string{
		{"$JS.API.CONSUMER.MSG.NEXT." + stream + ".ocr-workers", "1"},
		{"$JS.API.STREAM.MSG.GET." + stream, `{"seq": 1}`},
		{"$JS.API.DIRECT.GET." + stream, `{"seq": 1}`},
		{"$JS.API.STREAM.INFO." + stream, ""},
		{fmt.Sprintf("$JS.ACK.%s.ocr-workers.1.1.1.%d.0", stream, time.Now().UnixNano()), "+NXT"},
	} {
		must(t, conn.PublishRequest(c[0], target, []byte(c[1])))
	}
	must(t, conn.Flush())
	q := tenantOf(t, s, "borealis", "borealis", nats.Options{}).Queue("tasks")
	_, err := q.Send(t.Context(), "of borealis", queue.SendOptions{})
	must(t, err)
	for text := ""; text != "of borealis"; {
		m := await(t, q, time.Minute)
		if text = m.Text; text == "forged" {
			t.Error("a task of another tenant came")
		}
		must(t, m.Lease.Delete(t.Context()))
	}
	must(t, held.Lease.Extend(t.Context(), time.Minute))
}
