package nats_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-7227ef26/async-worker/queue"
	"github.com/seed-7227ef26/async-worker/queue/nats"
	"github.com/seed-7227ef26/async-worker/queue/nats/natstest"
	"github.com/seed-7227ef26/async-worker/queue/queuetest"
)

func open(t *testing.T, s *natstest.Server, o nats.Options) queue.Service {
	t.Helper()
	o.Timeout = natstest.Patience
	service, err := nats.Open(nats.Login{URL: s.URL()}, o)
	must(t, err)
	return service
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t, nil)
	queuetest.Run(t, func(t *testing.T) queue.Service { return open(t, s, nats.Options{}) }, queuetest.Options{})
}

// jobs opens the normal queue of a tenant, and its messages as a foreign client sees them.
func jobs(t *testing.T, s *natstest.Server, o nats.Options) (queue.Queue, jetstream.JetStream) {
	t.Helper()
	o.Subjects = map[string]string{
		"acme-tasks": "simple-process.jobs", "acme-tasks-high": "simple-process.jobs.high",
		"acme-tasks-low": "simple-process.jobs.low",
	}
	service := open(t, s, o)
	t.Cleanup(func() { must(t, service.Close()) })
	q := service.Queue("acme-tasks")
	must(t, q.Ensure(t.Context()))
	return q, natstest.Connect(t, s.URL())
}

func await(t *testing.T, q queue.Queue, visibility time.Duration) *queue.Message {
	t.Helper()
	end := time.Now().Add(5 * time.Minute) // on a busy machine one receive may take half a minute
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		got, err := q.Receive(t.Context(), 1, visibility)
		if len(got) == 1 {
			return got[0]
		}
		if errors.Is(err, queue.ErrNotFound) {
			t.Fatal(err)
		}
		if time.Now().After(end) {
			t.Fatal("no message came: ", err)
		}
		<-tick.C
	}
}

// The three queues of a tenant are one stream with one consumer each.
func TestStream(t *testing.T) {
	t.Parallel()
	q, js := jobs(t, natstest.Start(t, nil), nats.Options{Owner: "acme"})
	stream, err := js.Stream(t.Context(), "SIMPLE-PROCESS-JOBS")
	must(t, err)
	c := stream.CachedInfo().Config
	if c.Retention != jetstream.WorkQueuePolicy || len(c.Subjects) != 3 || c.Storage != jetstream.FileStorage {
		t.Errorf("%+v", c)
	}
	consumer, err := stream.Consumer(t.Context(), "ocr-workers")
	must(t, err)
	if got := consumer.CachedInfo().Config; got.FilterSubject != "simple-process.jobs" || got.MaxDeliver != -1 ||
		got.AckPolicy != jetstream.AckExplicitPolicy {
		t.Errorf("%+v", got)
	}
	_, err = js.Publish(t.Context(), "simple-process.jobs", []byte("from elsewhere"))
	must(t, err)
	if m := await(t, q, time.Minute); m.Text != "from elsewhere" {
		t.Errorf("%q", m.Text)
	}
}

// The messages of a worker that dies come back after the lease.
func TestDeadWorker(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t, nil)
	q, js := jobs(t, s, nats.Options{Lease: time.Second})
	_, err := js.Publish(t.Context(), "simple-process.jobs", []byte("x"))
	must(t, err)
	dying := open(t, s, nats.Options{Subjects: map[string]string{"a": "simple-process.jobs"}})
	await(t, dying.Queue("a"), time.Second)
	must(t, dying.Close())
	if m := await(t, q, time.Minute); m.DequeueCount != 2 {
		t.Errorf("received %d times, want 2", m.DequeueCount)
	}
}

// JetStream deletes a message on a stale acknowledgement, also while another worker has it. So none is sent.
func TestStaleAcknowledgement(t *testing.T) {
	t.Parallel()
	q, js := jobs(t, natstest.Start(t, nil), nats.Options{})
	_, err := js.Publish(t.Context(), "simple-process.jobs", []byte("x"))
	must(t, err)
	stale := await(t, q, time.Second)
	current := await(t, q, time.Minute)
	for name, err := range map[string]error{
		"extend": stale.Lease.Extend(t.Context(), time.Minute), "release": stale.Lease.Release(t.Context(), 0),
		"delete": stale.Lease.Delete(t.Context()),
	} {
		if !errors.Is(err, queue.ErrLeaseLost) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if depth, err := q.Depth(t.Context()); err != nil || depth != 1 {
		t.Errorf("depth %d, %v: the stale delete took the message", depth, err)
	}
	must(t, current.Lease.Delete(t.Context()))
}

// More delayed messages than a batch holds do not keep a worker from those behind them: it goes past all of them in one
// receive, not in four. On a busy machine the server may end a receive early: but each one asks until there are no more.
func TestManyDelayed(t *testing.T) {
	t.Parallel()
	q, js := jobs(t, natstest.Start(t, nil), nats.Options{})
	for i := range 3*queue.MaxBatch + 1 {
		_, err := q.Send(t.Context(), fmt.Sprint(i), queue.SendOptions{Delay: time.Hour})
		must(t, err)
	}
	_, err := q.Send(t.Context(), "now", queue.SendOptions{})
	must(t, err)
	pulls, err := js.Conn().SubscribeSync("$JS.API.CONSUMER.MSG.NEXT.>")
	must(t, err)
	must(t, js.Conn().Flush())
	receives := 0
	for got := []*queue.Message(nil); len(got) == 0; receives++ {
		got, err = q.Receive(t.Context(), queue.MaxBatch, time.Minute)
		must(t, err)
		if len(got) > 1 || len(got) == 1 && got[0].Text != "now" {
			t.Fatalf("got %v", got)
		}
	}
	for i := range receives + 3 { // one that ends each receive, and three full batches before
		if _, err := pulls.NextMsg(natstest.Patience); err != nil {
			t.Fatalf("%d receives asked the server %d times, want %d at least: %v", receives, i, receives+3, err)
		}
	}
}

// A message whose time to live has passed is removed when its turn comes.
func TestExpired(t *testing.T) {
	t.Parallel()
	q, js := jobs(t, natstest.Start(t, nil), nats.Options{})
	m := client.NewMsg("simple-process.jobs")
	m.Header.Set("Async-Worker-Expires-At", fmt.Sprint(time.Now().Add(-time.Minute).UnixMilli()))
	_, err := js.PublishMsg(t.Context(), m)
	must(t, err)
	for depth := 1; depth > 0; {
		got, err := q.Receive(t.Context(), 1, time.Minute)
		must(t, err)
		if len(got) > 0 {
			t.Fatalf("got %v", got)
		}
		depth, err = q.Depth(t.Context())
		must(t, err)
	}
}

// A CloudEvent in binary mode is read like one in structured mode.
func TestBinaryCloudEvents(t *testing.T) {
	t.Parallel()
	q, js := jobs(t, natstest.Start(t, nil), nats.Options{})
	m := client.NewMsg("simple-process.jobs")
	m.Header["ce-specversion"], m.Header["Ce-Id"] = []string{"1.0"}, []string{"4b1c"}
	m.Header["ce-source"], m.Header["ce-type"] = []string{"/pages%2Fa b%20%C3%A4"}, []string{"ocr.requested"}
	m.Data = []byte(`{"job_id": "a", "payload": {"n": 12345678901234567890}}`)
	_, err := js.PublishMsg(t.Context(), m)
	must(t, err)
	var event struct {
		SpecVersion, ID, Source, Type string
		Data                          json.RawMessage
	}
	must(t, json.Unmarshal([]byte(await(t, q, time.Minute).Text), &event))
	if event.SpecVersion != "1.0" || event.ID != "4b1c" || event.Source != "/pages/a b ä" ||
		event.Type != "ocr.requested" || !strings.Contains(string(event.Data), "12345678901234567890") {
		t.Errorf("%+v", event)
	}
}

// While the server is away each request fails and may be tried again; afterwards all goes on.
func TestRestart(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t, nil)
	lost, back := make(chan struct{}, 9), make(chan struct{}, 9)
	q, _ := jobs(t, s, nats.Options{OnConnection: func(up bool, _ error) {
		if up {
			back <- struct{}{}
		} else {
			lost <- struct{}{}
		}
	}})
	<-back
	_, err := q.Send(t.Context(), "x", queue.SendOptions{})
	must(t, err)
	m := await(t, q, time.Minute)
	s.Stop()
	<-lost
	if err := m.Lease.Extend(t.Context(), time.Minute); !errors.Is(err, queue.ErrUncertain) {
		t.Errorf("extend without a server: %v", err)
	}
	if _, err := q.Receive(t.Context(), 1, time.Minute); err == nil || errors.Is(err, queue.ErrNotFound) {
		t.Errorf("receive without a server: %v", err)
	}
	s.Restart()
	<-back
	must(t, m.Lease.Extend(t.Context(), time.Minute))
	must(t, m.Lease.Delete(t.Context()))
	if depth, err := q.Depth(t.Context()); err != nil || depth != 0 {
		t.Errorf("depth %d, %v", depth, err)
	}
}

// gatekeeper lets clients in while it is open, and tells of those that it refuses.
type gatekeeper struct {
	open    atomic.Bool
	refused chan struct{}
}

func (g *gatekeeper) Check(server.ClientAuthentication) bool {
	open := g.open.Load()
	if !open {
		select {
		case g.refused <- struct{}{}:
		default:
		}
	}
	return open
}

// A server that refuses the login for a while, as when its users are read anew, is tried again for as long as it takes;
// meanwhile the error names the login.
func TestLoginIsRefusedForAWhile(t *testing.T) {
	t.Parallel()
	gate := &gatekeeper{refused: make(chan struct{})}
	gate.open.Store(true)
	s := natstest.Start(t, func(o *server.Options) { o.CustomClientAuthentication = gate })
	back := make(chan struct{}, 9)
	q, _ := jobs(t, s, nats.Options{OnConnection: func(up bool, _ error) {
		if up {
			back <- struct{}{}
		}
	}})
	<-back
	gate.open.Store(false)
	s.Restart()
	for range 3 { // the client gives up after the second of the same kind
		<-gate.refused
	}
	if _, err := q.Send(t.Context(), "x", queue.SendOptions{}); err == nil || !strings.Contains(err.Error(), "refuses the login") {
		t.Errorf("while it is refused: %v", err)
	}
	gate.open.Store(true)
	<-back
	_, err := q.Send(t.Context(), "x", queue.SendOptions{})
	must(t, err)
}

// What the credentials lack is named.
func TestDenied(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t, func(o *server.Options) {
		o.Users = []*server.User{
			{Username: "admin", Password: "all"},
			{Username: "reader", Password: "some", Permissions: &server.Permissions{
				Publish: &server.SubjectPermission{Deny: []string{"$JS.API.STREAM.CREATE.>"}},
			}},
		}
	})
	for name, c := range map[string]struct {
		user, password, says string
	}{
		"password": {"reader", "wrong", "refuses the login"},
		"right":    {"reader", "some", `publish to "$JS.API.STREAM.CREATE.SIMPLE-PROCESS-JOBS"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, err := nats.Open(nats.Login{URL: s.URL(), User: c.user, Password: c.password}, nats.Options{
				Timeout: 5 * time.Second, Subjects: map[string]string{"acme-tasks": "simple-process.jobs"},
			})
			if err == nil {
				defer service.Close()
				err = service.Queue("acme-tasks").Ensure(t.Context())
			}
			if _, denied := errors.AsType[*nats.Denied](err); !denied || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
			if strings.Contains(fmt.Sprint(err), c.password) {
				t.Errorf("the error has the password: %v", err)
			}
		})
	}
}
