package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// outgoing reads what comes next, until transactions of other tests no longer hold anything up.
func (b *bench) outgoing(q store.OutgoingQuery) store.OutgoingPage {
	b.t.Helper()
	q.Lease = hour
	for {
		page, err := b.Outgoing(b.ctx(), q)
		if err != nil {
			b.t.Fatalf("outgoing: %v", err)
		}
		if !page.Held {
			return page
		}
	}
}

// drain publishes everything, in pages, and returns it.
func (b *bench) drain(fence int64, limit, bytes int) (all []store.Outgoing) {
	b.t.Helper()
	for {
		page := b.outgoing(store.OutgoingQuery{Fence: fence, Limit: limit, Bytes: bytes, Result: 1 << 20})
		all = append(all, page.Events...)
		if page.Next == nil {
			return all
		}
		if err := b.Published(b.ctx(), store.Published{
			Fence: fence, Lease: hour, Next: page.Next, Count: len(page.Events),
		}); err != nil {
			b.t.Fatalf("published: %v", err)
		}
	}
}

// said are the kinds of events by job, and the id of each event.
func said(t *testing.T, events []store.Outgoing) map[string]string {
	t.Helper()
	kinds, ids := map[string]string{}, map[string]bool{}
	for _, e := range events {
		if ids[e.ID] {
			t.Errorf("event %s of %s comes twice", e.ID, e.JobID)
		}
		ids[e.ID] = true
		kinds[e.JobID] = strings.TrimSpace(kinds[e.JobID] + " " + e.Kind)
	}
	return kinds
}

// testOutgoing: the publisher gets each event of the tenant's jobs, with what its readers need, and dead letters after
// the event of their failure, those of messages without a job too.
func testOutgoing(t *testing.T, b *bench) {
	other := newBench(t, b.open)
	other.publisher("w", hour)
	before, _ := b.run()
	for b.feed(store.FeedQuery{After: &store.FeedPosition{}, Limit: 1}).Held { // by transactions of other tests
		continue
	}
	fence := b.publisher("w1", hour)
	other.run()
	done, h := b.run(func(m *store.Begin) {
		m.Type, m.RequestedBy, m.Payload = "ocr", "user-17", json.RawMessage(`{"filename":"a.pdf"}`)
	})
	if _, err := b.Heartbeat(b.ctx(), store.Heartbeat{Holder: h, Lease: hour, Events: []store.Event{
		{
			ID: event("", 0).ID, At: time.Now(), Stage: "recognizing", Progress: 40,
			Metadata: json.RawMessage(`{"pages_completed": 4, "total_pages": 10}`),
		},
		event("", 50), // a note
	}}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Complete(b.ctx(), store.Completion{Holder: h, Result: json.RawMessage(
		`{"derived_content_id": "d1", "page_count": 10, "processing_time_ms": 1234}`)}); err != nil {
		t.Fatal(err)
	}
	failed, h := b.run()
	letter := b.fail(h, failed).DeadLetter.ID
	rejected, err := b.Reject(b.ctx(), store.Rejection{
		Error: badInput, Reason: "malformed", Original: "not JSON", Worker: "w9",
		Source: store.Source{Queue: "q", MessageID: event("", 0).ID},
	})
	if err != nil {
		t.Fatal(err)
	}
	refused := "job-" + event("", 0).ID
	if _, err := b.Reject(b.ctx(), store.Rejection{
		JobID: refused, Type: "ingest", Record: true, Error: badInput, Reason: "invalid_payload",
		Source: store.Source{Queue: "q", MessageID: event("", 0).ID},
	}); err != nil {
		t.Fatal(err)
	}
	canceled := "job-" + event("", 0).ID
	if _, err := b.RequestCancel(b.ctx(), canceled, "somebody"); err != nil {
		t.Fatal(err)
	}
	all := b.drain(fence, 100, 1<<20)
	want := map[string]string{
		done.JobID: "started progress completed", failed.JobID: "started failed dlq", "": "dlq", canceled: "canceled",
		refused: "failed dlq",
	}
	if got := said(t, all); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("events:\n%v, want\n%v (not %s, which began before)", got, want, before.JobID)
	}
	for i, e := range all {
		if e.Kind == store.OutgoingLetter && e.JobID != "" && !e.At.Equal(all[i-1].At) {
			t.Errorf("the dead letter of %s is of %s, the failure of %s", e.JobID, e.At, all[i-1].At)
		}
		switch {
		case e.JobID == done.JobID:
			if e.TaskType != "ocr" || e.ContentID != "a.pdf" || e.OwnerID != "user-17" || e.Worker != "w1" || e.At.IsZero() {
				t.Errorf("event %+v", e)
			}
			if e.Kind == store.OutgoingProgress && (e.PagesCompleted != 4 || e.TotalPages != 10 || e.Progress != 40) {
				t.Errorf("progress %+v", e)
			}
			if e.Kind == store.OutgoingCompleted && (e.DerivedContentID != "d1" || e.PageCount == nil ||
				*e.PageCount != 10 || e.ProcessingMS == nil || *e.ProcessingMS != 1234 || len(e.Result) == 0) {
				t.Errorf("completed %+v", e)
			}
		case e.Kind == store.OutgoingFailed && (e.ErrorType != "validation" || e.ErrorCode != badInput.Code ||
			e.ErrorMessage != badInput.Message || e.RetryCount != 0):
			t.Errorf("failed %+v", e)
		case e.Kind == store.OutgoingLetter && e.JobID == failed.JobID && (e.ID != letter || e.Reason != "permanent" ||
			e.OriginalMessage != failed.Original || e.ContentID != "a.pdf" || e.ErrorType != "validation"):
			t.Errorf("dead letter %+v", e)
		case e.Kind == store.OutgoingLetter && e.JobID == "" && (e.ID != rejected.DeadLetter.ID || e.TaskType != "" ||
			e.Reason != "malformed" || e.OriginalMessage != "not JSON" || e.Worker != "w9"):
			t.Errorf("dead letter %+v", e)
		}
	}
	state, err := b.PublisherState(b.ctx())
	if err != nil || !state.Exists || !state.Held || state.Worker != "w1" || state.Published != int64(len(all)) ||
		state.Behind != 0 || state.Oldest != 0 {
		t.Errorf("state %+v, %v", state, err)
	}
}

// testOutgoingPages: whatever the size of the pages, nothing is missing, nothing comes twice, and what is not recorded
// as published comes again.
func testOutgoingPages(t *testing.T, b *bench) {
	fence := b.publisher("w1", hour)
	want := map[string]string{}
	for range 5 {
		m, h := b.run()
		b.complete(h)
		want[m.JobID] = "started completed"
		m, h = b.run()
		b.fail(h, m)
		want[m.JobID] = "started failed dlq"
		if _, err := b.Reject(b.ctx(), store.Rejection{
			Error: badInput, Reason: "malformed", Source: store.Source{MessageID: event("", 0).ID},
		}); err != nil {
			t.Fatal(err)
		}
		want[""] = strings.TrimSpace(want[""] + " dlq")
	}
	again := b.outgoing(store.OutgoingQuery{Fence: fence, Limit: 7, Bytes: 1 << 20})
	var all []store.Outgoing
	for size := 1; ; size = size%4 + 1 {
		page := b.outgoing(store.OutgoingQuery{Fence: fence, Limit: size, Bytes: 1 + size*300, Result: 100})
		if page.Next == nil {
			break
		}
		if len(page.Events) > size {
			t.Fatalf("%d events, at most %d wanted", len(page.Events), size)
		}
		all = append(all, page.Events...)
		if err := b.Published(b.ctx(), store.Published{Fence: fence, Lease: hour, Next: page.Next}); err != nil {
			t.Fatal(err)
		}
	}
	if got := said(t, all); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("events:\n%v, want\n%v", got, want)
	}
	for i, e := range again.Events {
		if e.ID != all[i].ID {
			t.Errorf("event %d is %s at first and then %s", i, e.ID, all[i].ID)
		}
	}
	err := b.Published(b.ctx(), store.Published{Fence: fence, Lease: hour, Next: again.Next})
	if err == nil || errors.Is(err, store.ErrNotPublisher) {
		t.Errorf("the position goes back: %v", err)
	}
}

// testOutgoingResults: a large result stays in the database; a job that is done again has its former result in the event
// of its former end.
func testOutgoingResults(t *testing.T, b *bench) {
	fence := b.publisher("w1", hour)
	m, h := b.run()
	const size, most = 300 << 10, 256 << 10 // more than a page's bytes
	large := fmt.Sprintf(`{"document_id": "doc", "pages": 3, "text": %q}`, strings.Repeat("x", size))
	if _, err := b.Complete(b.ctx(), store.Completion{Holder: h, Result: json.RawMessage(large)}); err != nil {
		t.Fatal(err)
	}
	page := b.outgoing(store.OutgoingQuery{Fence: fence, Limit: 10, Bytes: most, Result: 1000})
	last := page.Events[len(page.Events)-1]
	if last.Kind != store.OutgoingCompleted || last.Result != nil || last.ResultBytes < size ||
		last.DocumentID != "doc" || last.PageCount == nil || *last.PageCount != 3 {
		t.Fatalf("a large result: %+v", last)
	}
	m.Force, m.Source.MessageID, m.Source.InsertedAt = true, event("", 0).ID, time.Now().Add(hour)
	again := holder(m, b.begin(m, store.Run))
	b.complete(again)
	var former, latter store.Outgoing
	for _, e := range b.outgoing(store.OutgoingQuery{Fence: fence, Limit: 10, Bytes: 1 << 28, Result: 1 << 28}).Events {
		if e.Kind == store.OutgoingCompleted {
			former, latter = latter, e
		}
	}
	if former.DocumentID != "doc" || len(former.Result) < size || string(latter.Result) != `{"n": 1}` {
		t.Errorf("results of %d and %d bytes", len(former.Result), len(latter.Result))
	}
}

// testOutgoingNumbers: a number that no Go type holds, of a custom handler, holds up nothing: the result has it as it is.
// A published field that would need it is empty.
func testOutgoingNumbers(t *testing.T, b *bench) {
	fence := b.publisher("w1", hour)
	_, h := b.run()
	progress := func(metadata string) store.Event {
		return store.Event{
			ID: event("", 0).ID, At: time.Now(), Stage: "recognizing", Progress: 40, Metadata: json.RawMessage(metadata),
		}
	}
	if _, err := b.Heartbeat(b.ctx(), store.Heartbeat{Holder: h, Lease: hour, Events: []store.Event{
		progress(`{"pages_completed": 1e400, "total_pages": 4.5}`), progress(`{"pages_completed": "two", "total_pages": -1}`),
		progress(`{"pages_completed": 3.0, "total_pages": 10}`),
	}}); err != nil {
		t.Fatal(err)
	}
	const number = `1e400`
	if _, err := b.Complete(b.ctx(), store.Completion{Holder: h, Result: json.RawMessage(
		`{"document_id": "doc", "page_count": ` + number + `, "processing_time_ms": 7}`)}); err != nil {
		t.Fatal(err)
	}
	var pages []string
	for _, e := range b.drain(fence, 100, 1<<20) {
		switch e.Kind {
		case store.OutgoingProgress:
			pages = append(pages, fmt.Sprint(e.PagesCompleted, "/", e.TotalPages))
		case store.OutgoingCompleted:
			var result struct {
				PageCount json.Number `json:"page_count"`
			}
			if err := json.Unmarshal(e.Result, &result); err != nil || len(result.PageCount) != 401 {
				t.Errorf("the result is %s, %v", e.Result, err)
			}
			if e.PageCount != nil || e.DocumentID != "doc" {
				t.Errorf("completed %+v", e)
			}
		}
	}
	if got, want := fmt.Sprint(pages), "[0/0 0/0 3/10]"; got != want {
		t.Errorf("pages %s, want %s", got, want)
	}
}

// testExpireEvents: the events of jobs that ended long ago are removed, and counted if nobody has published them.
func testExpireEvents(t *testing.T, b *bench) {
	other := newBench(t, b.open)
	foreign, h := other.run()
	other.complete(h)
	fence := b.publisher("w1", hour)
	published, h := b.run()
	b.complete(h)
	if n := len(b.drain(fence, 10, 1<<20)); n != 2 {
		t.Fatalf("%d events", n)
	}
	lost, h := b.run()
	b.complete(h)
	running, _ := b.run()
	if gone, err := b.ExpireEvents(b.ctx(), store.EventExpiry{Keep: hour, Jobs: 100}); err != nil || gone != (store.ExpiredEvents{}) {
		t.Fatalf("events of an hour: %+v, %v", gone, err)
	}
	gone, err := b.ExpireEvents(b.ctx(), store.EventExpiry{Jobs: 100})
	if err != nil || gone != (store.ExpiredEvents{Jobs: 2, Events: 4, Lost: 2}) {
		t.Fatalf("removed: %+v, %v", gone, err)
	}
	if gone, err := b.ExpireEvents(b.ctx(), store.EventExpiry{Jobs: 100}); err != nil || gone.Jobs != 0 {
		t.Errorf("removed again: %+v, %v", gone, err)
	}
	if state, err := b.PublisherState(b.ctx()); err != nil || state.Lost != 2 {
		t.Errorf("state %+v, %v", state, err)
	}
	left := map[string]int{published.JobID: 0, lost.JobID: 0, running.JobID: 1}
	for id, n := range left {
		if events, err := b.Events(b.ctx(), id, 0, 10); err != nil || len(events) != n {
			t.Errorf("%d events of %s, want %d (%v)", len(events), id, n, err)
		}
	}
	if n := len(other.history(foreign.JobID)); n != 2 {
		t.Errorf("%d events of another tenant's job, want 2", n)
	}
	// A job that is done again goes on with its numbers.
	published.Force, published.Source.MessageID = true, event("", 0).ID
	published.Source.InsertedAt = time.Now().Add(hour)
	b.complete(holder(published, b.begin(published, store.Run)))
	events, err := b.Events(b.ctx(), published.JobID, 0, 10)
	if err != nil || !slices.Equal(stages(events), []string{"restarted", "started", "completed"}) || events[0].Seq != 3 {
		t.Errorf("events of a job that is done again: %+v, %v", events, err)
	}
	if gone, err := b.ExpireEvents(b.ctx(), store.EventExpiry{Jobs: 1}); err != nil || gone.Jobs != 1 || gone.Events != 3 {
		t.Errorf("removed: %+v, %v", gone, err)
	}
}
