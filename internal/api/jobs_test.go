package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/api"
	"github.com/seed-7227ef26/async-worker/internal/search"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Jobs are listed in pages that stay right while others are added.
func TestListJobs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var want []string
	for range 5 {
		want = append(want, b.submitted(newFile()))
	}
	slices.Reverse(want)
	var got []string
	for path := "/v1/jobs?limit=2&documentSet=s&requestedBy=operateer&status=pending&type=ingest"; ; {
		var p api.Page[api.Job]
		r := b.want(b.ask("GET", path, ""), http.StatusOK, "")
		if err := json.Unmarshal([]byte(r.text), &p); err != nil {
			t.Fatal(err)
		}
		for _, j := range p.Items {
			got = append(got, j.ID)
		}
		if p.NextCursor == "" {
			break
		}
		path = "/v1/jobs?limit=2&documentSet=s&cursor=" + p.NextCursor
		b.submitted(newFile())
	}
	if !slices.Equal(got, want) {
		t.Errorf("listed %v, want %v", got, want)
	}
	if r := b.ask("GET", "/v1/jobs?q="+want[0][:13], ""); !strings.Contains(r.text, want[0]) {
		t.Errorf("by a part of its id: %s", r.text)
	}
	if r := b.ask("GET", "/v1/jobs?parent="+want[0], ""); r.text != `{"items":[]}`+"\n" {
		t.Errorf("of a job that submitted none: %s", r.text)
	}
	if r := b.ask("GET", "/v1/jobs?requestedBy=nobody", ""); r.text != `{"items":[]}`+"\n" {
		t.Errorf("nothing: %q", r.text)
	}
	for _, bad := range []string{"cursor=x", "cursor=bnVsbA", "limit=0", "limit=201", "status=done", "colour=1", "since=today"} {
		b.want(b.ask("GET", "/v1/jobs?"+bad, ""), http.StatusBadRequest, "VALIDATION_ERROR")
	}
}

// Cancel, retry and the dead letter of a failed job.
func TestCancelAndRetry(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.want(b.ask("GET", "/v1/jobs/none", ""), http.StatusNotFound, "NOT_FOUND")
	b.want(b.ask("POST", "/v1/jobs/none/cancel", ""), http.StatusNotFound, "NOT_FOUND")
	b.want(b.ask("POST", "/v1/jobs/none/retry", ""), http.StatusNotFound, "NOT_FOUND")

	id := b.submitted(newFile())
	h := b.begun(id)
	b.want(b.ask("POST", "/v1/jobs/"+id+"/retry", ""), http.StatusConflict, "NOT_FAILED")
	if r := b.want(b.ask("POST", "/v1/jobs/"+id+"/cancel", ""), http.StatusAccepted, ""); r.field("status") != "running" ||
		!strings.Contains(r.text, `"cancelRequested":true`) {
		t.Errorf("cancel of a running job: %s", r.text)
	}
	if _, err := b.store.Canceled(t.Context(), h, nil); err != nil {
		t.Fatal(err)
	}
	b.want(b.ask("POST", "/v1/jobs/"+id+"/cancel", ""), http.StatusConflict, "ALREADY_TERMINAL")

	id = b.submitted(newFile())
	b.failJob(b.begun(id))
	r := b.ask("GET", "/v1/jobs/"+id, "")
	var j api.Job
	if err := json.Unmarshal([]byte(r.text), &j); err != nil || j.Error == nil || j.Error.Code != "INGEST_CORRUPTION_DETECTED" ||
		j.Error.Class != "corruption_detected" || j.Error.Type != "permanent" || j.Error.Retryable || j.Error.Message != "broken" {
		t.Errorf("a failed job: %s, %v", r.text, err)
	}
	if r := b.want(b.ask("POST", "/v1/jobs/"+id+"/retry", ""), http.StatusAccepted, ""); r.field("status") != "pending" {
		t.Errorf("retry: %s", r.text)
	}
	retry := func(how string) reply { return b.ask("POST", "/v1/jobs/"+id+"/retry"+how, "") }
	b.failJob(b.begun(id))
	b.want(retry(""), http.StatusAccepted, "")
	b.failJob(b.begun(id))
	if r := b.want(retry(""), http.StatusConflict, "ATTEMPTS_EXHAUSTED"); !strings.Contains(r.text, "resetAttempts=true") {
		t.Errorf("no attempt left: %s", r.text)
	}
	if r := b.want(retry("?resetAttempts=true"), http.StatusAccepted, ""); !strings.Contains(r.text, `"attempts":0`) {
		t.Errorf("with new attempts: %s", r.text)
	}
	h = b.begun(id)
	b.failJob(h)
	var letters api.Page[api.DeadLetter]
	if r := b.ask("GET", "/v1/dead-letters?jobId="+id+"&limit=1", ""); json.Unmarshal([]byte(r.text), &letters) != nil || len(letters.Items) != 1 {
		t.Fatalf("dead letters: %s", r.text)
	}
	b.want(b.ask("POST", "/v1/dead-letters/"+letters.Items[0].ID+"/replay", ""), http.StatusAccepted, "")
	b.want(retry("?resetAttempts=true"), http.StatusConflict, "ALREADY_REPLAYED") // another job does its task
	b.want(retry("?force=true"), http.StatusAccepted, "")
	b.complete(b.begun(id))
	if r := b.ask("GET", "/v1/jobs/"+id, ""); r.field("resultRef") != "/v1/documents/d1" || r.field("status") != "succeeded" {
		t.Errorf("completed: %s", r.text)
	}
}

// Counts, queues, webhooks, results that are not there, and paths that are not.
func TestOthers(t *testing.T) {
	t.Parallel()
	var asked search.Query
	b := newBench(t, func(d *api.Deps) {
		find := d.Search
		d.Search = func(ctx context.Context, s search.Store, q search.Query) (search.Found, error) {
			asked = q
			return find(ctx, s, q)
		}
	})
	b.submitted(strings.Replace(newFile(), "{", `{"webhookUrl":"https://example.org/secret",`, 1))
	if r := b.ask("GET", "/v1/stats", ""); !strings.Contains(r.text, `{"type":"ingest","status":"pending","jobs":1}`) {
		t.Errorf("stats: %s", r.text)
	}
	if r := b.ask("GET", "/v1/queues", ""); !strings.Contains(r.text, fmt.Sprintf(
		`{"name":%q,"priority":"normal","depth":1}`, b.queues.Normal)) {
		t.Errorf("queues: %s", r.text)
	}
	id := b.ask("GET", "/v1/jobs", "")
	b.failJob(b.begun(strings.Split(id.text, `"`)[5]))
	hooks := b.ask("GET", "/v1/webhook-deliveries?status=pending&limit=1", "")
	if !strings.Contains(hooks.text, `"host":"example.org"`) || strings.Contains(hooks.text, "secret") {
		t.Errorf("webhooks: %s", hooks.text)
	}
	var p api.Page[api.Delivery]
	if err := json.Unmarshal([]byte(hooks.text), &p); err != nil || len(p.Items) != 1 {
		t.Fatalf("%s, %v", hooks.text, err)
	}
	b.want(b.ask("POST", "/v1/webhook-deliveries/"+p.Items[0].ID+"/resend", ""), http.StatusConflict, "NOT_RESENDABLE")
	b.want(b.ask("POST", "/v1/webhook-deliveries/none/resend", ""), http.StatusNotFound, "NOT_FOUND")
	b.failDelivery()
	again := b.ask("POST", "/v1/webhook-deliveries/"+p.Items[0].ID+"/resend", "")
	b.want(again, http.StatusAccepted, "")
	for _, r := range []reply{again, b.ask("GET", "/v1/webhook-deliveries?status=pending", "")} {
		if !strings.Contains(r.text, `"earlier":[{"status":"failed","attempts":1,"responseStatus":410,"lastError":"gone",`) {
			t.Errorf("sent again: %s", r.text)
		}
	}
	const none = "00000000-0000-4000-8000-000000000000"
	for _, path := range []string{"summaries/", "agent-runs/", "derived-contents/", "llm-checks/", "documents/"} {
		b.want(b.ask("GET", "/v1/"+path+none, ""), http.StatusNotFound, "NOT_FOUND")
		b.want(b.ask("GET", "/v1/"+path+"x", ""), http.StatusBadRequest, "VALIDATION_ERROR")
	}
	for _, path := range []string{"/chunks", "/markdown"} {
		b.want(b.ask("GET", "/v1/documents/"+none+path, ""), http.StatusNotFound, "NOT_FOUND")
	}
	b.want(b.ask("DELETE", "/v1/documents/"+none, ""), http.StatusNotFound, "NOT_FOUND")
	b.want(b.ask("GET", "/v1/nothing", ""), http.StatusNotFound, "NOT_FOUND")
	if r := b.want(b.ask("PUT", "/v1/jobs", ""), http.StatusMethodNotAllowed, "METHOD_NOT_ALLOWED"); r.header.Get(
		"Allow") != "GET, HEAD, POST" {
		t.Errorf("Allow: %q", r.header.Get("Allow"))
	}
	b.want(b.ask("POST", "/v1/search", `{"query":" "}`), http.StatusBadRequest, "VALIDATION_ERROR")
	for body, says := range map[string]string{
		`{"query":"tide","from":"2024-03-01T00:00:00Z","to":"2024-02-01T00:00:00Z"}`: "body.from is later than to",
		`{"query":"tide` + manyExclusions() + `"}`:                                   "body.query has more than 64 exclusions",
	} {
		if r := b.want(b.ask("POST", "/v1/search", body), http.StatusBadRequest, "VALIDATION_ERROR"); !strings.Contains(r.text, says) {
			t.Errorf("%.60s: %s; want %s", body, r.text, says)
		}
	}
	b.want(b.ask("POST", "/v1/search", `{"query":"tide","metadata":{"n":9007199254740993}}`), http.StatusOK, "")
	if n := fmt.Sprint(asked.Within.Metadata["n"]); n != "9007199254740993" {
		t.Errorf("searched for the number %s", n)
	}
	if r := b.ask("POST", "/v1/search", `{"query":"tide"}`); r.status != http.StatusOK || r.text != `{"items":[]}`+"\n" {
		t.Errorf("search: %+v", r)
	}
}

// failDelivery fails the one webhook that is due.
func (b *bench) failDelivery() {
	b.Helper()
	claimed, err := b.store.ClaimDeliveries(b.Context(), store.Claim{Worker: "w", Max: 10, Lease: time.Minute})
	if err != nil || len(claimed.Deliveries) != 1 {
		b.Fatal(claimed, err)
	}
	if _, err := b.store.SettleDelivery(b.Context(), store.DeliveryOutcome{
		ID: claimed.Deliveries[0].ID, Fence: claimed.Deliveries[0].Fence, Status: store.DeliveryFailed,
		ResponseStatus: http.StatusGone, Error: "gone",
	}); err != nil {
		b.Fatal(err)
	}
}

// A wake needs the scope submit.
func TestWake(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.want(b.ask("POST", "/v1/wake", "", "Authorization", "Bearer "+b.tokens["read"]), http.StatusForbidden, "FORBIDDEN")
	if r := b.ask("POST", "/v1/wake", "", "Authorization", "Bearer "+b.tokens["submit"]); r.status != http.StatusNoContent {
		t.Errorf("%d %s", r.status, r.text)
	}
}

// manyExclusions is more of a question than is read.
func manyExclusions() string {
	var all strings.Builder
	for i := range store.MostOperators + 1 {
		fmt.Fprintf(&all, " -w%d", i)
	}
	return all.String()
}

// Jobs with large metadata are listed in pages that a worker's memory has room for, and a stream's snapshot has less.
func TestLargeJobs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var want []string
	for range 4 {
		want = append(want, b.submitted(strings.Replace(newFile(), `"a":1`, `"a":"`+strings.Repeat("tide", 175<<10)+`"`, 1)))
	}
	slices.Reverse(want)
	var got []string
	var sizes []int
	for path := "/v1/jobs"; path != ""; {
		var p api.Page[api.Job]
		r := b.want(b.ask("GET", path, ""), http.StatusOK, "")
		if err := json.Unmarshal([]byte(r.text), &p); err != nil {
			t.Fatal(err)
		}
		for _, j := range p.Items {
			got = append(got, j.ID)
		}
		sizes = append(sizes, len(p.Items))
		if path = ""; p.NextCursor != "" {
			path = "/v1/jobs?cursor=" + p.NextCursor
		}
	}
	if !slices.Equal(got, want) || !slices.Equal(sizes, []int{3, 1}) {
		t.Errorf("pages of %v have %v, want %v", sizes, got, want)
	}
	var p api.Page[api.Job]
	m, ok := b.connect("/v1/events", "Last-Event-ID", "x").next()
	if err := json.Unmarshal([]byte(m.data), &p); err != nil || !ok || m.event != "reset" || len(p.Items) != 1 {
		t.Errorf("a snapshot of %d bytes has %d jobs, %v; want the newest alone", len(m.data), len(p.Items), err)
	}
	// Running jobs that fill their part leave the pending ones theirs.
	b.begun(want[0])
	b.begun(want[1])
	p = api.Page[api.Job]{}
	m, ok = b.connect("/v1/events", "Last-Event-ID", "x").next()
	if err := json.Unmarshal([]byte(m.data), &p); err != nil || !ok || len(p.Items) != 2 || p.Items[0].ID != want[0] ||
		p.Items[1].ID != want[2] {
		t.Errorf("a snapshot has %d jobs, %v; want the newest that runs and the newest that waits", len(p.Items), err)
	}
}

// sparse is a store in which no job matches among those that one page looks at.
type sparse struct{ store.Store }

func (sparse) FindJobs(_ context.Context, q store.JobQuery) (store.FoundJobs, error) {
	if q.Most < 1 || q.Most > 20_000 || q.Limit != 50 {
		return store.FoundJobs{}, fmt.Errorf("an unbounded search: %+v", q)
	}
	return store.FoundJobs{Looked: q.Most, Last: &store.JobCursor{At: time.Unix(1, 0), ID: "last"}}, nil
}

// A search among many jobs, of which few match, is done in pages, too: one may be empty, and go on.
func TestSparseJobs(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(d *api.Deps) { d.Store = sparse{d.Store} })
	r := b.want(b.ask("GET", "/v1/jobs?q=x", ""), http.StatusOK, "")
	if !strings.HasPrefix(r.text, `{"items":[],"nextCursor":"`) {
		t.Errorf("a page without jobs: %s", r.text)
	}
	b.want(b.ask("GET", "/v1/jobs?q=x&cursor="+r.field("nextCursor"), ""), http.StatusOK, "")
}
