package dashboard_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// The pages of a job's events have each of them once, however many there are, and its own page has the last ones.
func TestAllEvents(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	h := b.begin("long", "agent", `{"prompt":"Why?"}`)
	const last = 6_201
	if _, err := b.super().Exec(t.Context(), `insert into job_events (client_id, job_id, seq, id, progress, attempt, stage, message, metadata)
		select 'southhaven', 'long', n, gen_random_uuid(), 30, 1, 'streaming_response', 'event ' || n || '.',
			case when n = $1 then '{"delta":"the end"}'::jsonb when n = 900 then '{"delta":"the begin"}' end from generate_series(2, $1) n`, last); err != nil {
		t.Fatal(err)
	}
	if _, err := b.super().Exec(t.Context(), `update jobs set event_seq = $1 where id = 'long'`, last); err != nil {
		t.Fatal(err)
	}
	v := b.visit("read")
	v.want(v.get("jobs/long"), http.StatusOK, "event 6200.", ">All 6,201</a>", "the begin […] the end")
	seen := map[string]int{}
	next := regexp.MustCompile(`href="([^"]*)" rel="next"`)
	path := "jobs/long/events"
	for range 60 {
		a := v.want(v.get(path), http.StatusOK)
		for _, m := range regexp.MustCompile(`event \d+\.`).FindAllString(a.text, -1) {
			seen[m]++
		}
		m := next.FindStringSubmatch(a.text)
		if m == nil {
			break
		}
		path = m[1]
	}
	for n := 2; n <= last; n++ {
		if seen[fmt.Sprintf("event %d.", n)] != 1 {
			t.Fatalf("event %d is %d times on the pages", n, seen[fmt.Sprintf("event %d.", n)])
		}
	}
	v.want(v.get("jobs/long/events?after=x"), http.StatusOK, "event 2.")
	v.want(v.get("jobs/none/events"), http.StatusNotFound)
	b.complete(h, `{}`)
}

// The pages of a job's children have each of them once.
func TestAllChildren(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.begin("folder", "ingest", `{"prefix":"in/","document_set":"s"}`)
	if _, err := b.super().Exec(t.Context(), `insert into jobs (client_id, id, type, max_attempts, payload, parent_job_id)
		select 'southhaven', 'child-' || n, 'ingest', 3, jsonb_build_object('filename', n || '.pdf'), 'folder' from generate_series(1, 120) n`); err != nil {
		t.Fatal(err)
	}
	v := b.visit("read")
	a := v.want(v.get("jobs/folder"), http.StatusOK, `href="jobs/folder/children"`)
	if n := strings.Count(a.text, `href="jobs/child-`); n != 10 {
		t.Errorf("%d children are on the job's page", n)
	}
	seen := map[string]bool{}
	path := "jobs/folder/children"
	for range 5 {
		a = v.want(v.get(path), http.StatusOK)
		for _, m := range regexp.MustCompile(`href="jobs/(child-\d+)"`).FindAllStringSubmatch(a.text, -1) {
			if seen[m[1]] {
				t.Errorf("%s is on two pages", m[1])
			}
			seen[m[1]] = true
		}
		m := regexp.MustCompile(`href="([^"]*)" rel="next"`).FindStringSubmatch(a.text)
		if m == nil {
			break
		}
		path = m[1]
	}
	if len(seen) != 120 {
		t.Errorf("%d of 120 children are on the pages", len(seen))
	}
	v.want(v.get("jobs/none/children"), http.StatusNotFound)
}
