package nats_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2/event"
	"github.com/google/uuid"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"
	"go.uber.org/goleak"

	"github.com/seed-7227ef26/async-worker/internal/events"
	sink "github.com/seed-7227ef26/async-worker/internal/events/nats"
	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/queue/nats/natstest"
)

func TestMain(m *testing.M) {
	leaktest.Main(m, // of the server, which outlive it
		goleak.IgnoreAnyFunction("github.com/nats-io/nats-server/v2/server.(*Server).startGoRoutine.func1"))
}

// serve starts a server on a free port, or on that of options.
func serve(t *testing.T, edit func(*server.Options)) *server.Server {
	t.Helper()
	o := &server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true,
	}
	if edit != nil {
		edit(o)
	}
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(natstest.Patience) {
		t.Fatal("nats-server is not ready after ", natstest.Patience)
	}
	return s
}

func open(t *testing.T, o sink.Options) *sink.Sink {
	t.Helper()
	o.Log = slog.New(slog.DiscardHandler)
	s, err := sink.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func client(t *testing.T, s *server.Server, opts ...nats.Option) (*nats.Conn, jetstream.JetStream) {
	t.Helper()
	js := natstest.Connect(t, s.ClientURL(), opts...)
	return js.Conn(), js
}

// page is the events of some jobs, in turn.
func page(t *testing.T, jobs, each int, edit func(i int, o *store.Outgoing)) (all []events.Event) {
	t.Helper()
	for i := range jobs * each {
		o := store.Outgoing{
			Kind: store.OutgoingProgress, ID: uuid.NewString(), At: time.Now(), JobID: fmt.Sprintf("job-%d", i%jobs),
			TaskType: "ocr", Progress: i / jobs,
		}
		if edit != nil {
			edit(i, &o)
		}
		e, err := events.Make("southhaven", o)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

func makeStream(t *testing.T, js jetstream.JetStream, c jetstream.StreamConfig) jetstream.Stream {
	t.Helper()
	c.Name, c.Subjects = "events", []string{"ocr.job.*", "ocr.dlq"} // *.dlq would overlap with $JS.>
	s, err := js.CreateStream(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// messages are those of a stream.
func messages(t *testing.T, s jetstream.Stream) (all []*jetstream.RawStreamMsg) {
	t.Helper()
	info, err := s.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for seq := info.State.FirstSeq; seq <= info.State.LastSeq && seq > 0; seq++ {
		m, err := s.GetMsg(t.Context(), seq)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	return all
}

// TestStream: a stream has each event once, those of a job in order, however often they are sent.
func TestStream(t *testing.T) {
	t.Parallel()
	srv := serve(t, nil)
	_, js := client(t, srv)
	stream := makeStream(t, js, jetstream.StreamConfig{})
	s := open(t, sink.Options{URL: srv.ClientURL()})
	all := page(t, 30, 20, nil)
	for range 2 {
		if sent, err := s.Send(t.Context(), all); err != nil || sent.Done != len(all) {
			t.Fatalf("sent %+v, %v", sent, err)
		}
	}
	got := messages(t, stream)
	if len(got) != len(all) {
		t.Fatalf("the stream has %d messages, want %d", len(got), len(all))
	}
	last := map[string]float64{}
	for _, m := range got {
		var e cloudevents.Event
		if err := json.Unmarshal(m.Data, &e); err != nil || e.Validate() != nil {
			t.Fatalf("%s: %v", m.Data, err)
		}
		if m.Subject != e.Type() || m.Subject != "ocr.job.progress" || m.Header.Get("Nats-Msg-Id") != e.ID() {
			t.Errorf("%s on %s with %s", e, m.Subject, m.Header)
		}
		var data struct {
			Percent float64 `json:"percent_complete"`
		}
		if err := e.DataAs(&data); err != nil || data.Percent < last[e.Subject()] {
			t.Errorf("%v of %s comes after %v (%v)", data.Percent, e.Subject(), last[e.Subject()], err)
		}
		last[e.Subject()] = data.Percent
	}
}

// TestListeners: without a stream, who listens gets the events.
func TestListeners(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*server.Options){
		"with JetStream": nil, "without": func(o *server.Options) { o.JetStream = false },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := serve(t, edit)
			conn, _ := client(t, srv)
			heard, err := conn.SubscribeSync("*.dlq")
			if err != nil {
				t.Fatal(err)
			}
			if err := conn.Flush(); err != nil {
				t.Fatal(err)
			}
			// Whoever rejected messages sent may name anything as task type.
			types := []string{"ocr", "", "a.>", "*", "a b", "..", "évil"}
			all := page(t, len(types), 1, func(i int, o *store.Outgoing) {
				o.Kind, o.TaskType, o.JobID, o.OriginalMessage = store.OutgoingLetter, types[i], "", "no JSON"
			})
			s := open(t, sink.Options{URL: srv.ClientURL()})
			if err := s.Probe(t.Context()); err != nil {
				t.Fatalf("probe: %v", err)
			}
			if sent, err := s.Send(t.Context(), all); err != nil || sent.Done != len(all) {
				t.Fatalf("sent %+v, %v", sent, err)
			}
			for i := range types {
				m, err := heard.NextMsgWithContext(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				want := "unknown.dlq"
				if i == 0 {
					want = "ocr.dlq"
				}
				if m.Subject != want || !strings.Contains(string(m.Data), "no JSON") {
					t.Errorf("type %q: %s on %s", types[i], m.Data, m.Subject)
				}
			}
		})
	}
}

// TestLarge: an event that is larger than a message may be, for the server or for the stream, arrives without its
// result; one that is too large even so is refused. Neither stalls the others.
func TestLarge(t *testing.T) {
	t.Parallel()
	large := func(i int, o *store.Outgoing) {
		o.Kind = store.OutgoingCompleted
		if i == 1 {
			o.Result = json.RawMessage(fmt.Sprintf(`{"text": %q}`, strings.Repeat("x", 300_000)))
			o.ResultBytes = len(o.Result)
		}
	}
	for name, c := range map[string]struct {
		server        func(*server.Options)
		stream        int32 // max_msg_size
		bytes         int64 // max_bytes
		left, reduced int
	}{
		"server":           {func(o *server.Options) { o.MaxPayload = 100_000 }, -1, -1, 0, 1},
		"stream":           {nil, 100_000, -1, 0, 1},
		"stream of little": {nil, 400, -1, 3, 3},
		"small stream":     {nil, -1, 100_000, 0, 1},
		"tiny stream":      {nil, -1, 400, 3, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := serve(t, c.server)
			_, js := client(t, srv)
			stream := makeStream(t, js, jetstream.StreamConfig{
				MaxMsgSize: c.stream, MaxBytes: c.bytes, Discard: jetstream.DiscardNew,
			})
			sent, err := open(t, sink.Options{URL: srv.ClientURL()}).Send(t.Context(), page(t, 1, 3, large))
			if err != nil || sent.Done != 3 || len(sent.Refused) != c.left || sent.Reduced != c.reduced {
				t.Fatalf("sent %+v, %v", sent, err)
			}
			if n := len(messages(t, stream)); n != 3-c.left {
				t.Errorf("%d messages", n)
			}
		})
	}
}

// TestOutage: while there is no server each Send fails; when it is back, they arrive.
func TestOutage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keep := func(o *server.Options) { o.StoreDir = dir }
	srv := serve(t, keep)
	_, js := client(t, srv)
	makeStream(t, js, jetstream.StreamConfig{})
	s := open(t, sink.Options{URL: srv.ClientURL(), Timeout: 10 * time.Second})
	all := page(t, 5, 2, nil)
	if _, err := s.Send(t.Context(), all[:5]); err != nil {
		t.Fatal(err)
	}
	port := srv.Addr().String()[strings.LastIndex(srv.Addr().String(), ":")+1:]
	srv.Shutdown()
	srv.WaitForShutdown()
	if sent, err := s.Send(t.Context(), all[5:]); err == nil || sent.Done != 0 {
		t.Fatalf("without a server: %+v, %v", sent, err)
	}
	again := serve(t, func(o *server.Options) { keep(o); _, _ = fmt.Sscan(port, &o.Port) })
	for {
		sent, err := s.Send(t.Context(), all[5:])
		if err == nil && sent.Done == 5 {
			break
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-t.Context().Done():
			t.Fatal(err)
		}
	}
	_, js = client(t, again)
	stream, err := js.Stream(t.Context(), "events")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(messages(t, stream)); n != len(all) {
		t.Errorf("%d messages, want %d", n, len(all))
	}
}

// TestStreamThatFails: what the stream does not acknowledge is not sent to listeners instead.
func TestStreamThatFails(t *testing.T) {
	t.Parallel()
	srv := serve(t, nil)
	_, js := client(t, srv)
	stream := makeStream(t, js, jetstream.StreamConfig{MaxMsgs: 2, Discard: jetstream.DiscardNew})
	all := page(t, 1, 4, nil)
	sent, err := open(t, sink.Options{URL: srv.ClientURL()}).Send(t.Context(), all)
	if err == nil || sent.Done != 2 || len(sent.Refused) > 0 {
		t.Fatalf("sent %+v, %v", sent, err)
	}
	if n := len(messages(t, stream)); n != 2 {
		t.Errorf("%d messages", n)
	}
}

// TestLogins: each kind of key works, a wrong one is refused, and no error has it.
func TestLogins(t *testing.T) {
	t.Parallel()
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	public, _ := pair.PublicKey()
	seed, _ := pair.Seed()
	stranger, _ := nkeys.CreateUser()
	wrong, _ := stranger.Seed()
	withKeys := serve(t, func(o *server.Options) { o.Nkeys = []*server.NkeyUser{{Nkey: public}} })
	withToken := serve(t, func(o *server.Options) { o.Authorization = "a-secret-token" })
	withUser := serve(t, func(o *server.Options) {
		o.Users = []*server.User{{Username: "worker", Password: "a-secret-word", Permissions: &server.Permissions{
			Publish: &server.SubjectPermission{Deny: []string{"ocr.job.progress"}},
		}}}
	})
	as := func(s *server.Server, login string) string {
		return strings.Replace(s.ClientURL(), "nats://", "nats://"+login+"@", 1)
	}
	for name, c := range map[string]struct {
		o       sink.Options
		fine    bool
		problem string
	}{
		"NKey":              {sink.Options{URL: withKeys.ClientURL(), Key: string(seed)}, true, ""},
		"wrong NKey":        {sink.Options{URL: withKeys.ClientURL(), Key: string(wrong)}, false, "uthorization"},
		"token":             {sink.Options{URL: withToken.ClientURL(), Key: "a-secret-token"}, true, ""},
		"wrong token":       {sink.Options{URL: withToken.ClientURL(), Key: "wrong-secret"}, false, "uthorization"},
		"none":              {sink.Options{URL: withToken.ClientURL()}, false, "uthorization"},
		"wrong password":    {sink.Options{URL: as(withUser, "worker:wrong-secret")}, false, "uthorization"},
		"subject is denied": {sink.Options{URL: as(withUser, "worker:a-secret-word")}, false, "allow the login"},
		"no server":         {sink.Options{URL: "nats://worker:a-secret-word@127.0.0.1:1"}, false, "127.0.0.1:1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.o.Timeout = natstest.Patience
			sent, err := open(t, c.o).Send(t.Context(), page(t, 1, 2, nil))
			if c.fine != (err == nil) || c.fine != (sent.Done == 2) {
				t.Fatalf("sent %+v, %v", sent, err)
			}
			if err != nil && (!strings.Contains(err.Error(), c.problem) || slices.ContainsFunc(
				[]string{"secret", string(seed), string(wrong)}, func(s string) bool { return strings.Contains(err.Error(), s) })) {
				t.Errorf("error: %v", err)
			}
		})
	}
	if _, err := sink.New(sink.Options{URL: "nats://x", Key: "neither this nor that"}); err == nil {
		t.Error("a key of no form is accepted")
	}
}
