package storetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func (b *bench) documents(q store.DocumentQuery) []store.DocumentEntry {
	b.t.Helper()
	found, err := b.Documents(b.ctx(), q)
	if err != nil {
		b.t.Fatalf("documents: %v", err)
	}
	return found
}

func (b *bench) passages(q store.PassageQuery) (ids []string, all []store.Passage) {
	b.t.Helper()
	if q.Limit == 0 {
		q.Limit = 100
	}
	all, err := b.Passages(b.ctx(), q)
	if err != nil {
		b.t.Fatalf("passages: %v", err)
	}
	for _, p := range all {
		ids = append(ids, p.ChunkID)
	}
	return ids, all
}

func (b *bench) documentPassages(set, id string, from, limit int) []store.Passage {
	b.t.Helper()
	all, err := b.DocumentPassages(b.ctx(), store.DocumentPassageQuery{
		DocumentSet: set, DocumentID: id, From: from, Limit: limit,
	})
	if err != nil {
		b.t.Fatalf("document passages: %v", err)
	}
	return all
}

func (b *bench) outlines(set, document string) []store.DocumentOutline {
	b.t.Helper()
	all, err := b.Outlines(b.ctx(), set, document)
	if err != nil {
		b.t.Fatalf("outlines: %v", err)
	}
	return all
}

// testDocumentList: a listing has the active documents by name, in pages, and filters by a part of name or title.
func testDocumentList(t *testing.T, b *bench) {
	for i := range 5 {
		b.ingestInto("one", fmt.Sprintf("Report-%d.pdf", i), "text")
	}
	b.ingestInto("two", "Report-3.pdf", "text", "more")
	b.ingestInto("two", "100%_a.pdf", "text")
	_, h := b.run()
	if _, err := b.StageDocument(b.ctx(), store.Staging{
		Holder: h, DocumentSet: "one", Filename: "staged.pdf",
		Blob: "s",
	}); err != nil {
		t.Fatal(err)
	}
	names := func(q store.DocumentQuery) (all []string) {
		t.Helper()
		for _, d := range b.documents(q) {
			all = append(all, d.DocumentSet+"/"+d.Filename)
		}
		return all
	}
	want := func(q store.DocumentQuery, names []string, want string) {
		t.Helper()
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%+v: %s, want %s", q, got, want)
		}
	}
	for _, c := range []struct {
		q    store.DocumentQuery
		want string
	}{
		{store.DocumentQuery{DocumentSet: "two", Limit: 10}, "two/100%_a.pdf two/Report-3.pdf"},
		{store.DocumentQuery{DocumentSet: "three", Limit: 10}, ""},
		{store.DocumentQuery{Filter: "REPORT-3", Limit: 10}, "one/Report-3.pdf two/Report-3.pdf"},
		{store.DocumentQuery{Filter: "%_", Limit: 10}, "two/100%_a.pdf"},
		{store.DocumentQuery{Filter: "terms", DocumentSet: "two", Limit: 1}, "two/100%_a.pdf"}, // the title
		{store.DocumentQuery{Filter: `'; drop table documents; --`, Limit: 1}, ""},
	} {
		want(c.q, names(c.q), c.want)
	}
	var paged []string
	q := store.DocumentQuery{Limit: 2}
	for {
		page := b.documents(q)
		for _, d := range page {
			paged = append(paged, d.DocumentSet+"/"+d.Filename)
		}
		if len(page) < q.Limit {
			break
		}
		last := page[len(page)-1]
		q.After = &store.DocumentCursor{Filename: last.Filename, DocumentSet: last.DocumentSet}
	}
	if all := names(store.DocumentQuery{Limit: 100}); len(all) != 7 || !slices.Equal(paged, all) {
		t.Errorf("in pages %v, at once %v", paged, all)
	}
	d := b.documents(store.DocumentQuery{DocumentSet: "two", Filter: "report", Limit: 1})[0]
	if d.DocumentID == "" || d.Title != "Terms" || d.Language != "en" || d.Pages != 2 || d.Version != 1 ||
		d.Chunks != 2 || d.UpdatedAt.IsZero() {
		t.Errorf("%+v", d)
	}
	if d.State != "" || d.JobID != "" || d.Warnings != nil {
		t.Errorf("without Details: %+v", d)
	}
}

// testDocumentDetails: a listing with details has the warnings of the version's job, and whether another job replaces
// the version.
func testDocumentDetails(t *testing.T, b *bench) {
	b.ingest("quiet.pdf", "text")
	_, h := b.run()
	s, err := b.StageDocument(b.ctx(), staging(h, "scan.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	b.stage(h, s, "text")
	if _, err := b.Complete(b.ctx(), store.Completion{
		Holder:  h,
		Result:  json.RawMessage(`{"warnings":["2 of 3 pages have no text"]}`),
		Effects: []store.Effect{activate(s, 1)},
	}); err != nil {
		t.Fatal(err)
	}
	details := func() string {
		var all []string
		for _, d := range b.documents(store.DocumentQuery{Details: true, Limit: 10}) {
			if d.JobID == "" {
				t.Errorf("no job: %+v", d)
			}
			all = append(all, d.Filename+" "+d.State+" "+strings.Join(d.Warnings, "; "))
		}
		return strings.Join(all, ", ")
	}
	const before = "quiet.pdf active , scan.pdf active 2 of 3 pages have no text"
	if got := details(); got != before {
		t.Errorf("%q", got)
	}
	m, h := b.run()
	if _, err := b.StageDocument(b.ctx(), staging(h, "scan.pdf")); err != nil {
		t.Fatal(err)
	}
	if got := details(); got != strings.Replace(before, "scan.pdf active", "scan.pdf replacing", 1) {
		t.Errorf("while another version is made: %q", got)
	}
	b.fail(h, m)
	if got := details(); got != before {
		t.Errorf("after that failed: %q", got)
	}
}

// testPassages: reading by id returns chunks and their neighbours once and in order, of the active version alone.
func testPassages(t *testing.T, b *bench) {
	b.ingest("a.pdf", "old zero", "old one")
	var old []string
	for _, h := range b.search(store.Query{Text: "old"}) {
		old = append(old, h.ChunkID)
	}
	a := b.ingest("a.pdf", "zero", "one", "two", "three", "four")
	other := b.ingest("b.pdf", "alone")
	all := b.documentPassages("", a.DocumentID, 0, 100)
	var contents []string
	for _, p := range all {
		contents = append(contents, p.Content)
	}
	if got := strings.Join(contents, " "); got != "zero one two three four" {
		t.Fatalf("the document is %q", got)
	}
	if p := all[3]; p.Filename != "a.pdf" || p.DocumentSet != "contracts" || p.Version != 2 || p.Position != 3 ||
		p.DocumentID != a.DocumentID ||
		!slices.Equal(p.HeadingPath, []string{"Terms", "Payment"}) || !slices.Equal(p.Pages, []int{1, 2}) ||
		p.Kind != "text" {
		t.Errorf("%+v", p)
	}
	if part := b.documentPassages("contracts", a.DocumentID, 2, 2); len(part) != 2 || part[0].Content != "two" ||
		part[1].Content != "three" {
		t.Errorf("from 2: %+v", part)
	}
	if none := b.documentPassages("", a.DocumentID, 5, 2); len(none) != 0 {
		t.Errorf("after the end: %+v", none)
	}
	alone := b.documentPassages("", other.DocumentID, 0, 1)[0].ChunkID
	at := func(places ...int) (ids []string) {
		for _, p := range places {
			ids = append(ids, all[p].ChunkID)
		}
		return ids
	}
	for name, c := range map[string]struct {
		q    store.PassageQuery
		want []string
	}{
		"by id": {
			store.PassageQuery{IDs: []string{alone, all[2].ChunkID, all[2].ChunkID}},
			append(at(2), alone),
		},
		"with neighbours": {store.PassageQuery{IDs: at(0, 1, 4), Around: 1}, at(0, 1, 2, 3, 4)},
		"limited":         {store.PassageQuery{IDs: at(3), Around: 2, Limit: 2}, at(1, 2)},
		"superseded":      {store.PassageQuery{IDs: old, Around: 1}, nil},
		"nothing":         {store.PassageQuery{}, nil},
		"forged": {store.PassageQuery{IDs: []string{
			uuid.NewString(), "no uuid", "", "{" + alone + "}", strings.ReplaceAll(alone, "-", ""), "' or true --",
			strings.Repeat("-", 36),
		}}, nil},
	} {
		if got, _ := b.passages(c.q); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// testPassageScope: a call for a set sees that set alone, whatever ids it names. No call sees another tenant (I10).
func testPassageScope(t *testing.T, b *bench) {
	b.ingestInto("open", "plan.pdf", "the open plan")
	b.ingestInto("closed", "plan.pdf", "the closed plan")
	entries := b.documents(store.DocumentQuery{DocumentSet: "closed", Limit: 10})
	closed := entries[0].DocumentID
	chunk := b.documentPassages("closed", closed, 0, 10)[0].ChunkID
	stranger := newBench(t, b.open)
	for who, see := range map[string]struct {
		b   *bench
		set string
	}{"another set": {b, "open"}, "another tenant": {stranger, ""}} {
		if ids, _ := see.b.passages(store.PassageQuery{
			DocumentSet: see.set, IDs: []string{chunk},
			Around: 10,
		}); ids != nil {
			t.Errorf("%s reads a chunk", who)
		}
		if all := see.b.documentPassages(see.set, closed, 0, 10); len(all) != 0 {
			t.Errorf("%s reads a document", who)
		}
		if all := see.b.outlines(see.set, closed); len(all) != 0 {
			t.Errorf("%s sees the outline by id", who)
		}
		for _, d := range see.b.outlines(see.set, "plan.pdf") {
			if d.DocumentID == closed {
				t.Errorf("%s sees the outline by name", who)
			}
		}
		for _, d := range see.b.documents(store.DocumentQuery{DocumentSet: see.set, Limit: 10}) {
			if d.DocumentID == closed {
				t.Errorf("%s sees the document", who)
			}
		}
	}
}
