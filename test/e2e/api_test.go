package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/apitoken"
	"github.com/seed-7227ef26/async-worker/internal/stack"
)

// TestAPI: a frontend submits over HTTP, follows the job, and reads what it made, at a worker behind PostgREST and at one
// with a direct connection. Root needs no token over the socket; a token that is taken away is refused after a reload.
func TestAPI(t *testing.T) {
	t.Parallel()
	for name, direct := range map[string]bool{"PostgREST": false, "Postgres": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			port, err := stack.FreePort()
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			addr := "127.0.0.1:" + strconv.Itoa(port)
			token, entry, err := apitoken.New("frontend", apitoken.Submit)
			if err != nil {
				t.Fatal(err)
			}
			b := newBed(t, "LLM_PROVIDER=offline", "RUNTIME_DIRECTORY="+dir, "HTTP_ADDR="+addr, "API_TOKENS="+entry.String())
			if direct {
				b.env = append(b.env, "DATABASE_URL="+b.database)
			}
			w := b.start()
			b.upload("tides.md", []byte("# Tides\n\nHigh water comes twelve minutes earlier each week at the north quay.\n"))
			o := operator{b: b, client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, base: "http://" + addr, token: token}

			events, stop := o.follow("/v1/events")
			defer stop()
			job := o.post("/v1/jobs", `{"type":"ingest","payload":{"filename":"tides.md","document_set":"e2e"}}`, http.StatusCreated)
			id := job["id"].(string)
			var stages []string
			for e := range events {
				if e["jobId"] != id {
					continue
				}
				stages = append(stages, e["stage"].(string))
				if e["stage"] == "completed" {
					break
				}
			}
			if len(stages) < 3 || stages[0] != "started" {
				t.Errorf("the stages are %q", stages)
			}
			ofJob, stopJob := o.follow("/v1/jobs/" + id + "/events")
			defer stopJob()
			n := 0
			for range ofJob { // it ends by itself
				n++
			}
			if n != len(stages) {
				t.Errorf("the job's own stream has %d events, that of all %d", n, len(stages))
			}
			found := o.post("/v1/search", `{"query":"north quay high water"}`, http.StatusOK)
			if text, _ := json.Marshal(found); !strings.Contains(string(text), "tides.md") {
				t.Errorf("found %s", text)
			}
			o.post("/v1/jobs/"+id+"/retry", "", http.StatusForbidden)
			o.expect("/v1/jobs/"+id, http.StatusOK, `"status":"succeeded"`, `"requestedBy":"frontend"`)
			o.expect("/docs", http.StatusOK, "/v1/jobs")
			stranger := operator{b: b, client: o.client, base: o.base}
			stranger.expect("/v1/jobs", http.StatusUnauthorized)
			socket := b.atSocket(dir)
			socket.expect("/v1/jobs?status=succeeded", http.StatusOK, id)
			socket.post("/v1/jobs/"+id+"/retry", "", http.StatusConflict)

			if out, code := w.reload("API_TOKENS="); code != 0 || !strings.Contains(out, "in force now: API_TOKENS") {
				t.Fatalf("reload: exit code %d, %s", code, out)
			}
			w.await("RELOADING=1")
			w.await("READY=1")
			o.expect("/v1/jobs/"+id, http.StatusUnauthorized)
			socket.expect("/v1/jobs/"+id, http.StatusOK)
		})
	}
}

// TestAPIAcrossWorkers: who listens at one worker sees at once what another one does, by notifications; so does jobs
// watch.
func TestAPIAcrossWorkers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := newBed(t, "LLM_PROVIDER=offline")
	b.env = append(b.env, "DATABASE_URL="+b.database, "RUNTIME_DIRECTORY="+dir)
	b.start()
	o := b.atSocket(dir)
	events, stop := o.follow("/v1/events")
	defer stop()
	conn, err := pgx.Connect(b.ctx, b.database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	// Another process writes an event and tells so, as its workers do.
	for _, sql := range []string{
		`select aw_request_cancel(jsonb_build_object('client_id', $1::text, 'job_id', 'elsewhere', 'by', 'me'))`,
		`select aw_wake(jsonb_build_object('client_id', $1::text, 'jobs', jsonb_build_array('elsewhere')))`,
	} {
		if _, err := conn.Exec(b.ctx, sql, b.client); err != nil {
			t.Fatal(err)
		}
	}
	for e := range events {
		if e["jobId"] == "elsewhere" && e["stage"] == "canceled" {
			return
		}
	}
	t.Error("the event did not come")
}

// post sends a request, and wants a status.
func (o operator) post(path, body string, status int) (answer map[string]any) {
	o.b.t.Helper()
	req, err := http.NewRequestWithContext(o.b.ctx, http.MethodPost, o.base+path, strings.NewReader(body))
	if err != nil {
		o.b.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if o.token != "" {
		req.Header.Set("Authorization", "Bearer "+o.token)
	}
	resp, err := o.client.Do(req)
	if err != nil {
		o.b.t.Fatalf("%s: %v", path, err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || resp.StatusCode != status {
		o.b.t.Fatalf("%s: %s %v, %v; want %d", path, resp.Status, answer, err, status)
	}
	return answer
}

// follow opens a stream of events, and returns once it has begun. The channel ends with the stream.
func (o operator) follow(path string) (<-chan map[string]any, func()) {
	o.b.t.Helper()
	ctx, cancel := context.WithCancel(o.b.ctx)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, o.base+path, http.NoBody)
	if err != nil {
		o.b.t.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	if o.token != "" {
		req.Header.Set("Authorization", "Bearer "+o.token)
	}
	resp, err := o.client.Do(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		o.b.t.Fatalf("%s: %+v, %v", path, resp, err)
	}
	events, ended := make(chan map[string]any), make(chan struct{})
	lines := bufio.NewScanner(resp.Body)
	begun := make(chan struct{})
	go func() {
		defer close(ended)
		defer close(events)
		defer resp.Body.Close()
		for first := true; lines.Scan(); first = false {
			if first {
				close(begun)
			}
			data, ok := strings.CutPrefix(lines.Text(), "data: ")
			var e map[string]any
			if !ok || json.Unmarshal([]byte(data), &e) != nil {
				continue
			}
			select {
			case events <- e:
			case <-ctx.Done():
				return
			}
		}
	}()
	<-begun
	return events, func() {
		cancel()
		<-ended
	}
}
