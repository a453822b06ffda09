package ingest_test

import (
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Documents whose blob is gone are deleted if that is asked for, and if the blob is still gone then.
func TestPrefixDeleteMissing(t *testing.T) {
	t.Parallel()
	b, l := newLine(t)
	site, edit := newSite(t)
	b.rebuild(edit)
	site.set("# Of the web")
	for _, name := range []string{"in/a.md", "in/b.md", "in/c.md", "other/d.md"} {
		b.Put(name, "# "+name)
		b.ingest(`{"document_set":"docs","filename":"`+name+`"}`, task.Hints{})
	}
	b.ingest(`{"document_set":"docs","filename":"web.md","source_uri":"`+site.url+`/web.md"}`, task.Hints{})
	b.ingest(`{"document_set":"others","filename":"in/b.md"}`, task.Hints{})
	for _, name := range []string{"in/b.md", "in/c.md", "other/d.md"} {
		if err := b.Bucket.Remove(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	b.want(b.spread(`{"document_set":"docs","prefix":"in/"}`, task.Hints{}), "listed 1 submitted 0 unchanged 1 deletions 0 skipped 0")
	b.want(b.spread(`{"document_set":"docs","prefix":"in/","delete_missing":true}`, task.Hints{}),
		"listed 1 submitted 0 unchanged 1 deletions 2 skipped 0")
	b.Put("in/c.md", "# It is back")
	b.work(l)
	left := handlertest.Query[string](b.Bench, `select string_agg(document_set || ' ' || filename, ', ' order by 1)
		from (select document_set, filename from documents order by 1, 2) d`)
	if want := "docs in/a.md, docs in/c.md, docs other/d.md, docs web.md, others in/b.md"; left != want {
		t.Errorf("left: %s, want %s", left, want)
	}
	// With an empty prefix what was not made of a blob stays.
	b.want(b.spread(`{"document_set":"docs","prefix":"","delete_missing":true}`, task.Hints{}),
		"listed 2 submitted 1 unchanged 1 deletions 1 skipped 0")
}

// TestPrefixDeleteMissingOfAnEmptyContainer: a disk that is not mounted, or a container that was created again, has no
// blob; documents are deleted then only if the task is forced.
func TestPrefixDeleteMissingOfAnEmptyContainer(t *testing.T) {
	t.Parallel()
	b, l := newLine(t)
	for _, prefix := range []string{"", "in/"} {
		payload := `{"document_set":"docs","prefix":"` + prefix + `","delete_missing":true}`
		b.want(b.spread(payload, task.Hints{}), "listed 0 submitted 0 unchanged 0 deletions 0 skipped 0") // no document
		b.Put("in/a.md", "# A")
		b.ingest(`{"document_set":"docs","filename":"in/a.md"}`, task.Hints{})
		if err := b.Bucket.Remove(t.Context(), "in/a.md"); err != nil {
			t.Fatal(err)
		}
		_, err := b.handler.Handle(b.Context(), b.Begin(payload, task.Hints{}))
		if err == nil || taskerr.Classify(err).Class != taskerr.ContentMissing || len(l.sent) > 0 {
			t.Errorf("prefix %q: %v, submitted %v; want a refusal", prefix, err, l.sent)
		}
		b.want(b.spread(payload, task.Hints{Force: true}), "listed 0 submitted 0 unchanged 0 deletions 1 skipped 0")
		b.work(l)
	}
	// What a worker wrote since says nothing. Anything else does: the container was not lost.
	b.Put("in/a.md", "# A")
	b.ingest(`{"document_set":"docs","filename":"in/a.md"}`, task.Hints{})
	if err := b.Bucket.Remove(t.Context(), "in/a.md"); err != nil {
		t.Fatal(err)
	}
	b.Put("derived/a.md", "# Of a")
	b.Put("tasks/t-1.json", "{}")
	for _, prefix := range []string{"", "in/"} {
		_, err := b.handler.Handle(b.Context(), b.Begin(`{"document_set":"docs","prefix":"`+prefix+`","delete_missing":true}`, task.Hints{}))
		if err == nil || taskerr.Classify(err).Class != taskerr.ContentMissing || len(l.sent) > 0 {
			t.Errorf("prefix %q, the worker's own blobs: %v, submitted %v; want a refusal", prefix, err, l.sent)
		}
	}
	b.Put("other.txt", "x")
	r := b.spread(`{"document_set":"docs","prefix":"in/","delete_missing":true}`, task.Hints{})
	if r.Deletions != 1 {
		t.Errorf("%d deletions, want 1", r.Deletions)
	}
	b.work(l)
}
