package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/api"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// failing is a store that replays a number of dead letters and then fails, and that can't read back what it recorded.
type failing struct {
	store.Store
	replays int
}

func (f *failing) Replay(ctx context.Context, r store.Replay) (store.ReplayAnswer, error) {
	if f.replays--; f.replays < 0 {
		return store.ReplayAnswer{}, taskerr.Errorf(taskerr.TransientStorage, "the database is gone")
	}
	return f.Store.Replay(ctx, r)
}

func (*failing) Job(context.Context, string) (store.Job, error) {
	return store.Job{}, taskerr.Errorf(taskerr.TransientStorage, "the database is gone")
}

// TestReplayInPart: if the database fails midway, the answer names the jobs that were made, and what is left.
func TestReplayInPart(t *testing.T) {
	t.Parallel()
	var broken *failing
	b := newBench(t, func(d *api.Deps) {
		broken = &failing{d.Store, 2}
		d.Store, d.Replayer.Store = broken, broken
	})
	var jobs []string
	for range 4 {
		id := b.submitted(newFile())
		b.failJob(b.begun(id))
		jobs = append(jobs, id)
	}
	r := b.want(b.ask("POST", "/v1/dead-letters/replay", `{}`), http.StatusAccepted, "")
	var done api.BulkReplayed
	if err := json.Unmarshal([]byte(r.text), &done); err != nil {
		t.Fatal(err)
	}
	if done.Matched != 4 || done.Replayed != 2 || len(done.Jobs) != 2 || len(done.NotReplayed) != 2 {
		t.Fatalf("got %s", r.text)
	}
	for i, j := range done.Jobs {
		if j.ID != jobs[i]+".r1" || j.ParentJobID != jobs[i] || j.Status != "pending" {
			t.Errorf("job %d is %+v, want the replay of %s", i, j, jobs[i])
		}
	}
	for i, code := range []string{"UNAVAILABLE", "NOT_TRIED"} {
		left := done.NotReplayed[i]
		if d, err := b.store.DeadLetter(t.Context(), left.ID); err != nil || d.JobID != jobs[2+i] || left.Code != code {
			t.Errorf("not replayed: %+v of %s, %v; want %s of %s", left, d.JobID, err, code, jobs[2+i])
		}
	}
	b.want(b.ask("POST", "/v1/dead-letters/replay", `{}`), http.StatusServiceUnavailable, "UNAVAILABLE")

	broken.replays = 10
	r = b.want(b.ask("POST", "/v1/dead-letters/replay", `{}`), http.StatusAccepted, "")
	if err := json.Unmarshal([]byte(r.text), &done); err != nil || done.Replayed != 2 || len(done.NotReplayed) != 0 {
		t.Errorf("when it is back: %s, %v", r.text, err)
	}
}

// The address of a webhook may hold a token: in a dead letter's message and a schedule's only who may operate sees it.
func TestDeadLetterHidesWebhook(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	h := b.begun(b.submitted(newFile()))
	if _, err := b.store.Fail(t.Context(), store.Failure{
		Holder: h, Reason: "permanent", Error: store.ErrorInfo{Class: "corruption_detected", Message: "broken"},
		Original: `{"webhook_url":"https://hooks.example.com/secret-token"}`,
	}); err != nil {
		t.Fatal(err)
	}
	var p api.Page[api.DeadLetter]
	if err := json.Unmarshal([]byte(b.ask("GET", "/v1/dead-letters", "").text), &p); err != nil || len(p.Items) != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	b.want(b.ask("POST", "/v1/schedules", `{"id":"nightly","cron":"@daily","task":{"type":"ingest",
		"payload":{"prefix":"a/","document_set":"s"},"webhookUrl":"https://hooks.example.com/secret-token"}}`), http.StatusCreated, "")
	for _, path := range []string{"/v1/dead-letters", "/v1/dead-letters/" + p.Items[0].ID, "/v1/schedules", "/v1/schedules/nightly"} {
		for scope, want := range map[string]bool{"read": false, "submit": false, "operate": true} {
			r := b.want(b.ask("GET", path, "", "Authorization", "Bearer "+b.tokens[scope]), http.StatusOK, "")
			if strings.Contains(r.text, "secret-token") != want || !strings.Contains(r.text, "hooks.example.com") {
				t.Errorf("%s, scope %s: %s", path, scope, r.text)
			}
		}
	}
}

// What can't be replayed does not keep a bulk replay from what comes after it.
func TestBulkReplayPassesRefusals(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range 3 {
		if _, err := b.store.Reject(t.Context(), store.Rejection{
			Reason: "malformed", Original: "not JSON", Source: store.Source{Queue: "q", MessageID: strconv.Itoa(i)},
			Error: store.ErrorInfo{Class: "validation_error", Message: "m", Code: "C", Type: "T"},
		}); err != nil {
			t.Fatal(err)
		}
	}
	id := b.submitted(newFile())
	b.failJob(b.begun(id))
	var done api.BulkReplayed
	r := b.want(b.ask("POST", "/v1/dead-letters/replay", `{"limit":1}`), http.StatusAccepted, "")
	if err := json.Unmarshal([]byte(r.text), &done); err != nil || done.Replayed != 1 || done.Jobs[0].ParentJobID != id ||
		done.Matched != 4 || len(done.NotReplayed) != 3 {
		t.Errorf("%s, %v", r.text, err)
	}
}

// Dead letters: listed, read, replayed alone and by filter, removed.
func TestDeadLetters(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var jobs []string
	for range 3 {
		id := b.submitted(newFile())
		b.failJob(b.begun(id))
		jobs = append(jobs, id)
	}
	var p api.Page[api.DeadLetter]
	r := b.ask("GET", "/v1/dead-letters?type=ingest&class=corruption_detected&reason=permanent", "")
	if err := json.Unmarshal([]byte(r.text), &p); err != nil || len(p.Items) != 3 || p.Items[0].JobID != jobs[2] ||
		p.Items[0].Original == "" || p.Items[0].ErrorMessage != "broken" {
		t.Fatalf("%s, %v", r.text, err)
	}
	one := p.Items[2]
	if r := b.want(b.ask("GET", "/v1/dead-letters/"+one.ID, ""), http.StatusOK, ""); r.field("jobId") != jobs[0] {
		t.Errorf("get: %s", r.text)
	}
	r = b.want(b.ask("POST", "/v1/dead-letters/"+one.ID+"/replay", ""), http.StatusAccepted, "")
	if r.field("parentJobId") != jobs[0] || r.field("id") != jobs[0]+".r1" {
		t.Errorf("replayed: %s", r.text)
	}
	b.want(b.ask("POST", "/v1/dead-letters/"+one.ID+"/replay", ""), http.StatusConflict, "ALREADY_REPLAYED")
	for _, name := range []string{"type", "class", "reason"} { // it would select all
		r := b.ask("POST", "/v1/dead-letters/replay", `{"`+name+`":""}`)
		b.want(r, http.StatusBadRequest, "VALIDATION_ERROR")
	}
	var done api.BulkReplayed
	waiting := jobs[1:]
	for _, c := range []struct {
		body              string
		matched, replayed int
	}{
		{`{"class":"corruption_detected","dryRun":true}`, 2, 0},
		{`{"type":"ocr"}`, 0, 0},
		{`{"olderThan":"2020-01-01T00:00:00Z"}`, 0, 0},
		{`{"limit":1}`, 1, 1},
		{`{"newerThan":"2020-01-01T00:00:00Z","reason":"permanent"}`, 1, 1},
		{`{}`, 0, 0},
	} {
		r := b.want(b.ask("POST", "/v1/dead-letters/replay", c.body), http.StatusAccepted, "")
		if err := json.Unmarshal([]byte(r.text), &done); err != nil || done.Matched != c.matched ||
			done.Replayed != c.replayed || len(done.Jobs) != c.replayed {
			t.Errorf("%s: %s, %v", c.body, r.text, err)
		}
		for _, j := range done.Jobs { // the oldest first
			if j.ParentJobID != waiting[0] {
				t.Errorf("%s replayed %s, want %s", c.body, j.ParentJobID, waiting[0])
			}
			waiting = waiting[1:]
		}
	}
	b.want(b.ask("DELETE", "/v1/dead-letters/"+one.ID, ""), http.StatusConflict, "STILL_IN_USE")
	if err := b.store.DeadLetterSent(t.Context(), one.ID); err != nil {
		t.Fatal(err)
	}
	b.want(b.ask("DELETE", "/v1/dead-letters/"+one.ID, ""), http.StatusNoContent, "")
	b.want(b.ask("DELETE", "/v1/dead-letters/"+one.ID, ""), http.StatusNotFound, "NOT_FOUND")
	b.want(b.ask("GET", "/v1/dead-letters/"+one.ID, ""), http.StatusNotFound, "NOT_FOUND")
}
