package storetest

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// testOutcomes: ended jobs are counted in the windows in which they ended, with their durations, up to the bound; other
// tenants' are not.
func testOutcomes(t *testing.T, b *bench) {
	newBench(t, b.open).ingest("other.pdf", "text")
	windows := []store.Window{{Within: hour, Buckets: 60}, {Within: time.Millisecond, Buckets: 1}}
	outcomes := func(most int) []store.Outcomes {
		all, err := b.Outcomes(b.ctx(), windows, most)
		if err != nil || len(all) != len(windows) {
			t.Fatalf("outcomes: %+v, %v", all, err)
		}
		return all
	}
	if got := outcomes(10)[0]; got.Jobs != 0 || got.P50 != nil || len(got.Buckets) != 0 {
		t.Errorf("before the first job: %+v", got)
	}
	for range 2 {
		_, h := b.run()
		b.complete(h)
	}
	m, h := b.run()
	b.fail(h, m)
	waiting := message()
	b.begin(waiting, store.Run)
	if _, err := b.RequestCancel(b.ctx(), "never-came", "somebody"); err != nil {
		t.Fatal(err)
	}
	got := outcomes(10)[0]
	if got.Jobs != 4 || got.Succeeded != 2 || got.Failed != 1 || got.Canceled != 1 || got.More || got.P50 == nil ||
		got.P95 == nil || *got.P50 < 0 || *got.P50 > *got.P95 || got.End.Sub(got.Begin) != hour {
		t.Errorf("outcomes: %+v", got)
	}
	sum := [3]int{}
	for _, bucket := range got.Buckets {
		if bucket[0] < 58 || bucket[0] > 60 {
			t.Errorf("a job that ended now is in part %d of 60", bucket[0])
		}
		for i := range sum {
			sum[i] += bucket[i+1]
		}
	}
	if sum != [3]int{2, 1, 1} {
		t.Errorf("the parts have %v", sum)
	}
	if _, err := b.Outcomes(b.ctx(), slices.Repeat(windows, 6), 10); err == nil || !strings.Contains(err.Error(), "at most 10") {
		t.Errorf("twelve windows: %v", err)
	}
	if got := outcomes(3)[0]; got.Jobs != 3 || !got.More || got.Oldest.IsZero() {
		t.Errorf("bounded: %+v", got)
	}
}

// testOverview: what waits, what failed by cause, and what results say was used.
func testOverview(t *testing.T, b *bench) {
	for i, priority := range []string{"high", "normal", "normal"} {
		s := submission(func(s *store.Submission) { s.JobID, s.Priority = "wait-"+string(rune('a'+i)), priority })
		if _, err := b.Submit(b.ctx(), s); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		m, h := b.run()
		b.fail(h, m)
	}
	_, h := b.run()
	if _, err := b.Complete(b.ctx(), store.Completion{Holder: h, Result: json.RawMessage(
		`{"prompt_tokens":7,"completion_tokens":"many","chunks_embedded":3,"chunks_reused":4,"tokens_embedded":30,
		"tokens_reused":40}`)}); err != nil {
		t.Fatal(err)
	}
	o, err := b.Overview(b.ctx(), hour, 10)
	if err != nil {
		t.Fatal(err)
	}
	var waiting []int
	for _, w := range o.Waiting {
		waiting = append(waiting, w.Jobs)
		if (w.Oldest == nil) != (w.Jobs == 0) || w.More {
			t.Errorf("waiting: %+v", w)
		}
	}
	if !slices.Equal(waiting, []int{1, 2, 0}) {
		t.Errorf("high, normal, low: %v", waiting)
	}
	if len(o.Failures) != 1 || o.Failures[0].Jobs != 2 || o.Failures[0].Class != badInput.Class ||
		o.Failures[0].Message != badInput.Message || o.Failures[0].LastID == "" {
		t.Errorf("failures: %+v", o.Failures)
	}
	if o.Usage != (store.Usage{
		Jobs: 1, PromptTokens: 7, ChunksEmbedded: 3, ChunksReused: 4, TokensEmbedded: 30, TokensReused: 40,
	}) {
		t.Errorf("usage: %+v", o.Usage)
	}
	if o, err = b.Overview(b.ctx(), hour, 1); err != nil || !o.Waiting[1].More || o.Waiting[1].Jobs != 1 {
		t.Errorf("bounded: %+v, %v", o, err)
	}
}

// testFindJobs: each filter narrows; the pages have every job once; a bound ends the search and tells where.
func testFindJobs(t *testing.T, b *bench) {
	all := map[string]string{}
	for i, payload := range []string{
		`{"filename":"Quay.pdf","document_set":"harbour"}`, `{"filename":"b.pdf"}`, `{}`, `{"filename":"c.pdf"}`,
	} {
		m, h := b.run(func(m *store.Begin) { m.Payload = json.RawMessage(payload); m.RequestedBy = "user-1" })
		all[m.JobID] = payload
		if i == 1 {
			b.fail(h, m)
		}
	}
	find := func(q store.JobQuery) store.FoundJobs {
		if q.Limit == 0 {
			q.Limit = 10
		}
		if q.Most == 0 {
			q.Most = 100
		}
		found, err := b.FindJobs(b.ctx(), q)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	for want, qs := range map[int][]store.JobQuery{
		4: {{}, {Type: "ingest"}, {RequestedBy: "user-1"}, {Priority: "normal"}, {Since: time.Now().Add(-hour)}},
		3: {{Status: "running"}, {Text: ".PDF"}},
		1: {
			{Status: "failed"},
			{Text: "quay"},
			{DocumentSet: "harbour"},
			{Class: badInput.Class},
			{Code: badInput.Code},
			{Text: "NO EXTRACTOR"},
		},
		0: {{Replays: true}, {Type: "ocr"}, {Status: "canceled"}, {Text: "%"}, {Text: "_"}, {Before: time.Now().Add(-hour)}, {Code: "x"}},
	} {
		for _, q := range qs {
			if got := find(q); len(got.Jobs) != want || got.Last != nil {
				t.Errorf("%+v finds %d, want %d; last %v", q, len(got.Jobs), want, got.Last)
			}
		}
	}
	seen := map[string]bool{}
	q := store.JobQuery{Limit: 3}
	for range 5 {
		got := find(q)
		for _, j := range got.Jobs {
			if seen[j.ID] {
				t.Errorf("%s is on two pages", j.ID)
			}
			seen[j.ID] = true
		}
		if q.After = got.Last; q.After == nil {
			break
		}
	}
	if len(seen) != len(all) {
		t.Errorf("%d of %d jobs are on the pages", len(seen), len(all))
	}
	bounded := find(store.JobQuery{Text: "quay", Most: 2}) // the oldest has it
	if len(bounded.Jobs) != 0 || bounded.Looked != 2 || bounded.Last == nil {
		t.Fatalf("bounded: %+v", bounded)
	}
	if rest := find(store.JobQuery{Text: "quay", Most: 2, After: bounded.Last}); len(rest.Jobs) != 1 || rest.Last != nil {
		t.Errorf("the rest: %+v", rest)
	}
	counts, err := b.JobCounts(b.ctx(), 2)
	if err != nil || counts[0] != (store.StatusCount{Status: "running", Jobs: 2, More: true}) ||
		counts[2] != (store.StatusCount{Status: "failed", Jobs: 1}) {
		t.Errorf("counts: %+v, %v", counts, err)
	}
	for range 2 {
		_, h := b.run()
		b.complete(h)
	}
	for most, succeeded := range map[int]store.StatusCount{ // the ends together are 3
		1: {Status: "succeeded", Jobs: 1, More: true},
		2: {Status: "succeeded", Jobs: 2},
		3: {Status: "succeeded", Jobs: 2},
	} {
		counts, err := b.JobCounts(b.ctx(), most)
		if err != nil || len(counts) != 5 || counts[2] != (store.StatusCount{Status: "failed", Jobs: 1}) ||
			counts[3] != succeeded || counts[4] != (store.StatusCount{Status: "canceled"}) {
			t.Errorf("counts of at most %d: %+v, %v", most, counts, err)
		}
	}
}

// testJobContext: a job's message and trace, and the jobs that replay it; a tenant sees its own alone.
func testJobContext(t *testing.T, b *bench) {
	s := submission(func(s *store.Submission) {
		s.TraceParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	})
	if _, err := b.Submit(b.ctx(), s); err != nil {
		t.Fatal(err)
	}
	c, err := b.JobContext(b.ctx(), s.JobID)
	if err != nil || c.Message != s.Message || c.Queue != s.Queue || c.TraceParent != s.TraceParent || len(c.Children) != 0 ||
		c.Events != 0 {
		t.Errorf("%+v, %v", c, err)
	}
	const raw = `{"task_id":"raw","payload":{},"unknown":"ümlaut"}`
	came, holding := b.run(func(m *store.Begin) { m.Original = raw })
	b.loseWorker(holding)
	b.begin(came, store.Run)
	if c, err = b.JobContext(b.ctx(), came.JobID); err != nil || c.Received != raw || c.Message != "" {
		t.Errorf("the message as it came: %q, %v", c.Received, err)
	}
	m, id := b.letter()
	b.replay(replaying(id, b.plan(id, "")))
	if c, err = b.JobContext(b.ctx(), m.JobID); err != nil || c.Events == 0 || len(c.Children) != 1 || c.Children[0].ParentJobID != m.JobID {
		t.Errorf("children of a replayed job: %+v, %v", c.Children, err)
	}
	found, err := b.FindJobs(b.ctx(), store.JobQuery{Replays: true, Limit: 10, Most: 100})
	if err != nil || len(found.Jobs) != 1 || found.Jobs[0].ParentJobID != m.JobID {
		t.Errorf("replays: %+v, %v", found, err)
	}
	if _, err := newBench(t, b.open).JobContext(t.Context(), s.JobID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("another tenant: %v", err)
	}
}

// testLetterGroups: letters are grouped by what they have in common, without those that were replayed.
func testLetterGroups(t *testing.T, b *bench) {
	_, replayed := b.letter()
	for range 2 {
		b.letter()
	}
	b.replay(replaying(replayed, b.plan(replayed, "")))
	got, err := b.LetterGroups(b.ctx(), 10)
	if err != nil || got.Letters != 2 || got.More || len(got.Groups) != 1 || got.Groups[0].Letters != 2 ||
		got.Groups[0].Class != badInput.Class || got.Groups[0].TaskType != "ingest" {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err = b.LetterGroups(b.ctx(), 1); err != nil || got.Letters != 1 || !got.More {
		t.Errorf("bounded: %+v, %v", got, err)
	}
	if got, err = newBench(t, b.open).LetterGroups(t.Context(), 10); err != nil || got.Letters != 0 || got.Groups == nil {
		t.Errorf("none: %+v, %v", got, err)
	}
}

// testDocumentVersions: sets with their documents, and the versions of one with what their jobs did.
func testDocumentVersions(t *testing.T, b *bench) {
	b.ingest("a.pdf", "one")
	second := b.ingest("a.pdf", "one", "two")
	sets, err := b.DocumentSets(b.ctx(), 10)
	if err != nil || len(sets) != 1 || sets[0].Documents != 1 {
		t.Errorf("sets: %+v, %v", sets, err)
	}
	all, err := b.DocumentVersions(b.ctx(), second.DocumentID)
	if err != nil || len(all) != 2 || all[0].Version != 2 || all[0].Status != "active" || all[0].Chunks != 2 ||
		all[0].JobID == "" || all[0].ActivatedAt == nil || all[1].Status != "superseded" {
		t.Errorf("versions: %+v, %v", all, err)
	}
	if all, err = newBench(t, b.open).DocumentVersions(t.Context(), second.DocumentID); err != nil || len(all) != 0 {
		t.Errorf("another tenant sees %+v, %v", all, err)
	}
	if all, err = b.DocumentVersions(b.ctx(), "no id"); err != nil || len(all) != 0 {
		t.Errorf("no id: %+v, %v", all, err)
	}
}

// testVersionChanges: each version says what it changed in chunks, a text that is there twice counting twice, and of the
// active one how each page was read. What was read in another way says so.
func testVersionChanges(t *testing.T, b *bench) {
	b.ingest("a.pdf", "one", "two", "two", "three")
	b.ingest("a.pdf", "new", "newer", "two", "one", "newest")
	_, h := b.run()
	s, err := b.StageDocument(b.ctx(), staging(h, "a.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	b.stage(h, s, "new", "newer", "two", "one", "newest")
	effect := activate(s, 5)
	args := effect.Args.(store.Activation)
	log := []store.PageReading{
		{First: 1, Last: 4, Method: "native", Confidence: 1}, {First: 5, Last: 5, Method: "ocr", Confidence: 0.9, Reason: "no text"},
	}
	args.PageLog, args.Pipeline = log, "p2"
	effect.Args = args
	b.complete(h, effect)
	all, err := b.DocumentVersions(b.ctx(), s.DocumentID)
	if err != nil || len(all) != 3 {
		t.Fatalf("versions: %+v, %v", all, err)
	}
	for i, want := range []*store.VersionChanges{
		{Kept: 5, At: [][2]int{}}, {Added: 3, Removed: 2, Kept: 2, At: [][2]int{{0, 1}, {4, 4}}}, nil,
	} {
		if !reflect.DeepEqual(all[i].Changes, want) {
			t.Errorf("version %d changed %+v, want %+v", all[i].Version, all[i].Changes, want)
		}
	}
	if !all[0].Reread || all[1].Reread || all[2].Reread {
		t.Errorf("read in another way: %+v", all)
	}
	if !slices.Equal(all[0].PageLog, log) || all[1].PageLog != nil {
		t.Errorf("pages were read: %+v, and before that: %+v", all[0].PageLog, all[1].PageLog)
	}
}
