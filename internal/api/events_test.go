package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/api"
	"github.com/seed-7227ef26/async-worker/internal/feed"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// message is a server-sent event.
type message struct{ id, event, data string }

func (m message) job(t *testing.T) (e api.JobEvent) {
	t.Helper()
	if err := json.Unmarshal([]byte(m.data), &e); err != nil {
		t.Errorf("%q: %v", m.data, err)
	}
	return e
}

// connection is an open stream.
type connection struct {
	*testing.T
	resp   *http.Response
	lines  *bufio.Reader
	lastID string
	cut    context.CancelFunc
}

// connect opens a stream. The test ends it with cut, at the latest when it ends.
func (b *bench) connect(path string, header ...string) *connection {
	b.Helper()
	ctx, cut := context.WithCancel(b.Context())
	b.Cleanup(cut)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.server.URL+path, http.NoBody)
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Authorization", "Bearer "+b.tokens["read"])
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
		if header[i+1] == "" {
			req.Header.Del(header[i])
		}
	}
	resp, err := b.server.Client().Do(req)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = resp.Body.Close() })
	return &connection{T: b.T, resp: resp, lines: bufio.NewReader(resp.Body), cut: cut}
}

// next reads an event, as a browser does; ok: false at the end of the stream.
func (c *connection) next() (m message, ok bool) {
	for {
		line, err := c.lines.ReadString('\n')
		if err != nil {
			return m, false
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "\n":
			c.lastID = m.id
			if m.data != "" {
				return m, true
			}
			m = message{id: c.lastID}
		case name == "id":
			m.id = value
		case name == "event":
			m.event = value
		case name == "data":
			m.data += value
		}
	}
}

// want reads events until the end of the stream, or as many as are wanted, and compares their stages.
func (c *connection) want(stages ...string) []message {
	c.Helper()
	var got []string
	var all []message
	for len(got) < len(stages) {
		m, ok := c.next()
		if !ok {
			break
		}
		all = append(all, m)
		got = append(got, m.job(c.T).Stage)
	}
	if strings.Join(got, " ") != strings.Join(stages, " ") {
		c.Errorf("got the stages %q, want %q", got, stages)
	}
	return all
}

// of reads until an event of a job. Transactions of other tests may delay the stream, so that it begins a little earlier.
func (c *connection) of(id, stage string) message {
	c.Helper()
	for {
		m, ok := c.next()
		if !ok {
			c.Fatal("the stream has ended")
		}
		if e := m.job(c.T); e.JobID == id {
			if e.Stage != stage {
				c.Errorf("got %+v, want %s", m, stage)
			}
			return m
		}
	}
}

func (c *connection) wantEnd() {
	c.Helper()
	if m, ok := c.next(); ok {
		c.Errorf("the stream goes on with %+v", m)
	}
}

// A job's stream has all its events from the first, as they come, and ends after the last.
func TestJobStream(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.submitted(newFile())
	h := b.begun(id)
	c := b.connect("/v1/jobs/" + id + "/events")
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no",
	} {
		if got := c.resp.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	c.want("started")
	b.report(h, store.Event{
		Stage: "parsing", Progress: 20, Metadata: json.RawMessage(`{"pages_completed":3,"total_pages":7}`),
	})
	m := c.want("parsing")[0]
	if e := m.job(t); m.event != "job" || m.id != "2" || e.JobID != id || e.Attempt != 1 || e.Progress != 20 ||
		e.Metadata == nil || string(*e.Metadata) != `{"pagesCompleted":3,"totalPages":7}` || e.ID == "" || e.Timestamp.IsZero() {
		t.Errorf("%+v", m)
	}
	b.report(h, store.Event{Stage: "embedding", Progress: 60})
	b.complete(h)
	all := c.want("embedding", "completed")
	if all[1].id != "4" || all[1].job(t).Progress != 100 {
		t.Errorf("the last event: %+v", all[1])
	}
	c.wantEnd()

	// The same again, from the start and from the middle; after the end there is nothing more.
	again := b.connect("/v1/jobs/" + id + "/events")
	again.want("started", "parsing", "embedding", "completed")
	again.wantEnd()
	rest := b.connect("/v1/jobs/"+id+"/events", "Last-Event-ID", "2")
	rest.want("embedding", "completed")
	rest.wantEnd()
	if done := b.connect("/v1/jobs/"+id+"/events", "Last-Event-ID", "4"); done.resp.StatusCode != http.StatusNoContent {
		t.Errorf("after the end: %s", done.resp.Status)
	}
	for _, odd := range []string{"5", "x", "-1", "99999999999999999999"} {
		reset := b.connect("/v1/jobs/"+id+"/events", "Last-Event-ID", odd)
		if m, ok := reset.next(); !ok || m.event != "reset" || !strings.Contains(m.data, `"status":"succeeded"`) {
			t.Errorf("after event %s: %+v", odd, m)
		}
		reset.want("started", "parsing", "embedding", "completed")
		reset.wantEnd()
	}
	b.want(b.ask("GET", "/v1/jobs/none/events", "", "Accept", "text/event-stream"), http.StatusNotFound, "NOT_FOUND")
	var p api.Page[api.JobEvent]
	r := b.ask("GET", "/v1/jobs/"+id+"/events?limit=3", "")
	if err := json.Unmarshal([]byte(r.text), &p); err != nil || len(p.Items) != 3 || p.NextCursor == "" {
		t.Fatalf("list: %s, %v", r.text, err)
	}
	r = b.ask("GET", "/v1/jobs/"+id+"/events?cursor="+p.NextCursor, "")
	if err := json.Unmarshal([]byte(r.text), &p); err != nil || len(p.Items) != 1 || p.Items[0].Stage != "completed" {
		t.Errorf("the next page: %s, %v", r.text, err)
	}
}

// A job that is done again has another end; a note after the end is not missed.
func TestStreamOfARetriedJob(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.submitted(newFile())
	b.failJob(b.begun(id))
	b.want(b.ask("POST", "/v1/jobs/"+id+"/retry", ""), http.StatusAccepted, "")
	c := b.connect("/v1/jobs/" + id + "/events")
	c.want("started", "failed", "restarted")
	b.complete(b.begun(id))
	c.want("started", "completed")
	c.wantEnd()
}

// The stream of all jobs begins now; a client that was cut off goes on where it was.
func TestAllStream(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.begun(b.submitted(newFile()))
	c := b.connect("/v1/events")
	if line, err := c.lines.ReadString('\n'); err != nil || line != "retry: 2000\n" {
		t.Errorf("it begins with %q, %v", line, err)
	}
	// The position is known before the first event.
	for c.lastID == "" {
		line, err := c.lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if id, ok := strings.CutPrefix(line, "id: "); ok {
			c.lastID = strings.TrimSpace(id)
		}
	}
	c.cut()
	id := b.submitted(newFile())
	h := b.begun(id)
	again := b.connect("/v1/events", "Last-Event-ID", c.lastID)
	m := again.of(id, "started")
	if m.event != "job" {
		t.Errorf("%+v", m)
	}
	b.complete(h)
	again.of(id, "completed")
	for _, name := range []string{"cursor", "lastEventId"} {
		byQuery := b.connect("/v1/events?" + name + "=" + m.id)
		byQuery.of(id, "completed")
	}
	b.connect("/v1/events?lastEventId=x", "Last-Event-ID", m.id).of(id, "completed")

	var stages []string
	for path := "/v1/events?limit=2"; len(stages) < 3; {
		var p api.Page[api.JobEvent]
		r := b.ask("GET", path, "")
		if err := json.Unmarshal([]byte(r.text), &p); err != nil || len(p.Items) > 2 || p.NextCursor == "" {
			t.Fatalf("list: %s, %v", r.text, err)
		}
		for _, e := range p.Items {
			stages = append(stages, e.Stage)
		}
		path = "/v1/events?limit=2&cursor=" + p.NextCursor
	}
	if strings.Join(stages, " ") != "started started completed" {
		t.Errorf("listed %q", stages)
	}
	b.want(b.ask("GET", "/v1/events?cursor=x", ""), http.StatusBadRequest, "VALIDATION_ERROR")
}

// A client takes the connection of a HEAD for its next request.
func TestHeadOfAStream(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, path := range []string{"/v1/events", "/v1/jobs/" + b.submitted(newFile()) + "/events"} {
		b.want(b.ask("HEAD", path, "", "Accept", "text/event-stream"), http.StatusOK, "")
		b.want(b.ask("GET", "/v1/jobs", ""), http.StatusOK, "")
	}
}

// A position that is too old, or that nobody gave out, is answered with the active jobs, and the stream goes on.
func TestStreamReset(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.submitted(newFile())
	h := b.begun(id)
	for name, cursor := range map[string]string{
		"no cursor": "x", "of another database": feed.Cursor(store.FeedPosition{Tx: 1 << 60, At: time.Now()}),
		"too old": feed.Cursor(store.FeedPosition{Tx: 1, At: time.Now().Add(-2 * time.Hour)}),
	} {
		c := b.connect("/v1/events", "Last-Event-ID", cursor)
		m, ok := c.next()
		var p api.Page[api.Job]
		if err := json.Unmarshal([]byte(m.data), &p); err != nil || !ok || m.event != "reset" || len(p.Items) != 1 ||
			p.Items[0].ID != id || p.Items[0].Status != "running" || m.id == "" {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
		b.report(h, store.Event{Stage: "s", Message: name})
		for {
			m, ok := c.next()
			if !ok {
				t.Fatal("the stream has ended")
			}
			if m.job(t).Message == name {
				break
			}
		}
		c.cut()
	}
}

// Streams that are cut at random and resumed have every event once, in order, while others hold transactions open.
func TestResumedStreams(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const jobs, events, cuts = 6, 40, 100
	start := b.connect("/v1/events")
	for start.lastID == "" {
		line, err := start.lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if id, ok := strings.CutPrefix(line, "id: "); ok {
			start.lastID = strings.TrimSpace(id)
		}
	}
	start.cut()
	var holders []store.Holder
	for range jobs {
		holders = append(holders, b.begun(b.submitted(newFile())))
	}
	var writing sync.WaitGroup
	for _, h := range holders {
		conn, err := pgx.Connect(t.Context(), b.url)
		if err != nil {
			t.Fatal(err)
		}
		writing.Go(func() {
			defer conn.Close(context.Background())
			for range events {
				if err := lateHeartbeat(t.Context(), conn, h); err != nil {
					t.Error(err)
					return
				}
				b.feed.Written(h.JobID)
			}
		})
	}
	last := map[string]int64{}
	lastID, connections := start.lastID, 0
	for n := 0; n < jobs*(events+1); connections++ {
		c := b.connect("/v1/events", "Last-Event-ID", lastID)
		for until := n + 1 + rand.IntN(2*jobs*events/cuts); n < until && n < jobs*(events+1); n++ {
			m, ok := c.next()
			if !ok {
				t.Fatal("the stream has ended")
			}
			p, err := feed.ParseCursor(m.id)
			if e := m.job(t); err != nil || p.JobID != e.JobID || p.Seq != last[e.JobID]+1 {
				t.Fatalf("event %d of %s after %d, %v", p.Seq, e.JobID, last[e.JobID], err)
			}
			last[p.JobID], lastID = p.Seq, m.id
		}
		c.cut()
	}
	writing.Wait()
	t.Logf("%d events over %d connections", jobs*(events+1), connections)
}

// lateHeartbeat writes an event in a transaction that stays open for a while.
func lateHeartbeat(ctx context.Context, conn *pgx.Conn, h store.Holder) error {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, fmt.Sprintf(`select aw_heartbeat(jsonb_build_object('client_id', %s, 'job_id', '%s',
		'fence', %s, 'lease_ms', 3600000, 'events', jsonb_build_array(jsonb_build_object('id', gen_random_uuid(), 'ago_ms', 0,
		'stage', 's', 'progress', 1)))), pg_sleep(random() * 0.02)`,
		"'"+tenant+"'", h.JobID, strconv.FormatInt(h.Fence, 10))); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// A ticket opens one stream, with the right to read, for a page whose EventSource sends no header.
func TestTickets(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.submitted(newFile())
	b.complete(b.begun(id))
	ticket := func() string {
		return b.want(b.ask("POST", "/v1/tickets", ""), http.StatusCreated, "").field("ticket")
	}
	text := ticket()
	c := b.connect("/v1/jobs/"+id+"/events?ticket="+text, "Authorization", "")
	c.want("started", "completed")
	c.wantEnd()
	b.want(b.ask("GET", "/v1/jobs/"+id+"/events?ticket="+text, "", "Authorization", ""), http.StatusUnauthorized,
		"UNAUTHORIZED")
	b.want(b.ask("GET", "/v1/jobs?ticket="+ticket(), "", "Authorization", ""), http.StatusUnauthorized, "UNAUTHORIZED")
	b.want(b.ask("POST", "/v1/tickets?ticket="+ticket(), "", "Authorization", ""), http.StatusUnauthorized, "UNAUTHORIZED")
	b.want(b.ask("POST", "/v1/tickets", "", "Authorization", ""), http.StatusUnauthorized, "UNAUTHORIZED")
}
