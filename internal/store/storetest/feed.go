package storetest

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// feed reads a page of the stream.
func (b *bench) feed(q store.FeedQuery) store.FeedPage {
	b.t.Helper()
	page, err := b.Feed(b.ctx(), q)
	if err != nil {
		b.t.Fatalf("feed: %v", err)
	}
	return page
}

// stream reads the stream from a position to its end, in pages.
func (b *bench) stream(after store.FeedPosition, limit int) (all []store.FeedEvent) {
	b.t.Helper()
	for {
		page := b.feed(store.FeedQuery{After: &after, Limit: limit})
		if page.Reset || page.More != (len(page.Events) == limit) {
			b.t.Fatalf("page: %+v", page)
		}
		all = append(all, page.Events...)
		if after = page.Next; !page.More && !page.Held {
			return all
		}
	}
}

// testFeed: the stream has all events of the tenant, each once, a job's in their order, from whatever position it is
// read and in pages of any size.
func testFeed(t *testing.T, b *bench) {
	other := newBench(t, b.open)
	earlier, held := b.run()
	start := b.feed(store.FeedQuery{After: &store.FeedPosition{}, Limit: 100})
	for start.Held { // by transactions of other tests
		start = b.feed(store.FeedQuery{After: &store.FeedPosition{}, Limit: 100})
	}
	if len(start.Events) != 0 || start.Reset || start.More || start.Next.Tx == 0 {
		t.Fatalf("the end of the stream: %+v", start)
	}
	want := map[string]int{}
	jobs := []string{earlier.JobID}
	b.complete(held)
	want[earlier.JobID] = len(b.history(earlier.JobID)) - 1
	for range 4 {
		other.run()
		m, h := b.run()
		if _, err := b.Heartbeat(b.ctx(), store.Heartbeat{
			Holder: h, Lease: hour, Events: []store.Event{event("parsing", 12), event("embedding", 60)},
		}); err != nil {
			t.Fatal(err)
		}
		b.complete(h)
		want[m.JobID] = len(b.history(m.JobID))
		jobs = append(jobs, m.JobID)
	}
	all := b.stream(start.Next, 100)
	if !slices.IsSortedFunc(all, func(a, b store.FeedEvent) int { return a.Position().Compare(b.Position()) }) {
		t.Errorf("the stream is not in the order of positions: %+v", all)
	}
	got := map[string]int{}
	last := map[string]int64{earlier.JobID: 1}
	for _, e := range all {
		if e.Seq != last[e.JobID]+1 {
			t.Errorf("event %d of %s comes after %d", e.Seq, e.JobID, last[e.JobID])
		}
		last[e.JobID] = e.Seq
		got[e.JobID]++
		if history := b.history(e.JobID); !sameEvent(history[e.Seq-1], e.JobEvent) {
			t.Errorf("the stream has %+v, the job %+v", e.JobEvent, history[e.Seq-1])
		}
	}
	for _, id := range jobs {
		if got[id] != want[id] {
			t.Errorf("job %s: %d events, want %d", id, got[id], want[id])
		}
	}
	if len(got) != len(jobs) {
		t.Errorf("events of %d jobs, want %d: another tenant's?", len(got), len(jobs))
	}
	for i, e := range all {
		rest := b.stream(e.Position(), 1+i%3)
		if !slices.EqualFunc(rest, all[i+1:], func(a, b store.FeedEvent) bool { return a.ID == b.ID }) {
			t.Fatalf("after event %d of %d come %d others", i+1, len(all), len(rest))
		}
	}
}

func sameEvent(a, b store.JobEvent) bool {
	return a.ID == b.ID && a.Seq == b.Seq && a.At.Equal(b.At) && a.Stage == b.Stage && a.Progress == b.Progress &&
		a.Message == b.Message && a.Attempt == b.Attempt && string(a.Metadata) == string(b.Metadata)
}

func testFeedOfJobs(t *testing.T, b *bench) {
	other := newBench(t, b.open)
	foreign, _ := other.run()
	one, h := b.run()
	two, _ := b.run()
	if _, err := b.Heartbeat(b.ctx(), store.Heartbeat{Holder: h, Lease: hour, Events: []store.Event{
		{ID: event("", 0).ID, At: time.Now(), Stage: "parsing", Progress: 3, Metadata: json.RawMessage(`{"a": 1}`)},
	}}); err != nil {
		t.Fatal(err)
	}
	watch := []store.JobPosition{{JobID: one.JobID}, {JobID: two.JobID, Seq: 1}, {JobID: foreign.JobID}, {JobID: "none"}}
	page := b.feed(store.FeedQuery{Jobs: watch, Limit: 100})
	history := b.history(one.JobID)
	if len(page.Events) != 0 || len(page.JobEvents) != len(history) {
		t.Fatalf("page: %+v", page)
	}
	for i, e := range page.JobEvents {
		if !sameEvent(e.JobEvent, history[i]) {
			t.Errorf("event %d is %+v, want %+v", i, e.JobEvent, history[i])
		}
	}
	watch[0].Seq, watch[1].Seq = 1, 0
	page = b.feed(store.FeedQuery{After: &store.FeedPosition{}, Jobs: watch, Limit: 1})
	if len(page.JobEvents) != 1 || page.Next.Tx == 0 {
		t.Errorf("page: %+v", page)
	}
	if err := b.Wake(b.ctx(), []string{one.JobID}); err != nil {
		t.Error(err)
	}
	if err := b.Wake(b.ctx(), nil); err != nil {
		t.Error(err)
	}
	if err := b.WakeWorkers(b.ctx()); err != nil {
		t.Error(err)
	}
}

// testFeedReset: a position that is too old, or that this database never gave out, is answered with the stream's end.
func testFeedReset(t *testing.T, b *bench) {
	m, h := b.run()
	end := b.feed(store.FeedQuery{After: &store.FeedPosition{}, Limit: 1})
	for end.Held { // by transactions of other tests
		end = b.feed(store.FeedQuery{After: &store.FeedPosition{}, Limit: 1})
	}
	now := end.Next
	b.complete(h)
	old := now
	old.At = old.At.Add(-2 * hour)
	foreign := now
	foreign.Tx += 1 << 40
	for name, c := range map[string]struct {
		q     store.FeedQuery
		reset bool
	}{
		"young":                 {store.FeedQuery{After: &now, Keep: hour}, false},
		"old":                   {store.FeedQuery{After: &old, Keep: hour}, true},
		"of any age":            {store.FeedQuery{After: &old}, false},
		"of another database":   {store.FeedQuery{After: &foreign}, true},
		"of another, and young": {store.FeedQuery{After: &foreign, Keep: hour}, true},
	} {
		c.q.Limit = 1000
		page := b.feed(c.q)
		for page.Held { // by transactions of other tests
			page = b.feed(c.q)
		}
		if page.Reset != c.reset || c.reset != (len(page.Events) == 0) || page.Next.Tx < now.Tx {
			t.Errorf("%s: %+v", name, page)
		}
		if !c.reset && (page.Events[0].JobID != m.JobID || page.Events[0].Stage != "completed") {
			t.Errorf("%s: %+v", name, page.Events)
		}
	}
}
