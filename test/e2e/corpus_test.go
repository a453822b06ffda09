package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/test/corpus"
	"github.com/seed-7227ef26/async-worker/webhook/receiver"
)

// only keeps the paths with one of the extensions.
func only(paths []string, extensions ...string) []string {
	return slices.DeleteFunc(paths, func(p string) bool { return !slices.Contains(extensions, filepath.Ext(p)) })
}

// ingestAll uploads and enqueues files, and returns the webhook of each.
func (b *bed) ingestAll(paths []string) map[string]receiver.Delivery {
	b.t.Helper()
	for _, path := range paths {
		name := filepath.Base(path)
		content, err := os.ReadFile(path)
		if err != nil {
			b.t.Fatal(err)
		}
		b.upload(name, content)
		b.send(b.ingest(name, name))
	}
	outcomes := map[string]receiver.Delivery{}
	for _, path := range paths {
		name := filepath.Base(path)
		outcomes[name] = b.await(b.ctx, name)
	}
	return outcomes
}

var markdownHeading = regexp.MustCompile(`(?m)^#{1,6} \S`)

// TestRealDocuments: each succeeds, with chunks that have page and heading path where the format has them.
func TestRealDocuments(t *testing.T) {
	t.Parallel()
	paths := only(corpus.Documents(t), ".pdf", ".docx", ".html", ".md", ".csv", ".txt")
	b := newBed(t, "LLM_PROVIDER=offline")
	b.start()
	for name, got := range b.ingestAll(paths) {
		if got.Type != "task.completed" {
			t.Errorf("%s: %s: %s: %s", name, got.Type, got.Error.Code, got.Error.Message)
			continue
		}
		const of = ` from document_chunks c join documents d on d.id = c.document_id and d.active_version = c.version where d.filename = $1`
		chunks := int(got.Result["chunks"].(float64))
		expect(b, name+": chunks", chunks, "select count(*)"+of, name)
		expect(b, name+": positions", chunks-1, "select coalesce(max(position), -1)"+of, name)
		if filepath.Ext(name) == ".pdf" {
			expect(b, name+": chunks without a page", 0, "select count(*)"+of+" and cardinality(c.pages) = 0", name)
			expect(b, name+": pages beyond the last", 0, "select count(*)"+of+
				" and exists (select from unnest(c.pages) p where p < 1 or p > d.pages)", name)
		}
		headed := query[int](b, "select count(*)"+of+" and cardinality(c.heading_path) > 0", name)
		t.Logf("%-40s %4d chunks, %4d under a heading, pages %v", name, chunks, headed, got.Result["pages"])
		if hasHeadings(t, name) && headed == 0 {
			t.Errorf("%s: it has headings, but no chunk has a heading path", name)
		}
	}
	expect(b, "jobs that did not succeed", 0, "select count(*) from jobs where status <> 'succeeded'")
	expect(b, "versions beside the active ones", 0, "select count(*) from document_versions where status <> 'active'")
}

// hasHeadings reports whether a document has headings; false for PDF, where they are a guess. Of our own samples, all
// but the table have some; of others Docling's Markdown says so.
func hasHeadings(t *testing.T, name string) bool {
	t.Helper()
	if ext := filepath.Ext(name); ext == ".pdf" || ext == ".csv" {
		return false
	}
	root, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "dev", "samples", name)); err == nil {
		return true
	}
	reference, err := os.ReadFile(filepath.Join(root, "..", "shared", "corpus", "docling", name+".md"))
	return err == nil && markdownHeading.Match(reference)
}

// TestHostileFiles: each ends in a result or in one clear error, at the first attempt.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	b := newBed(t, "LLM_PROVIDER=offline")
	b.start()
	for name, got := range b.ingestAll(corpus.Hostile(t)) {
		letters := query[int](b, "select count(*) from dead_letters where job_id = $1", name)
		if ids := b.hooks.IDs(name); len(ids) != 1 {
			t.Errorf("%s: webhook-ids %v, want one", name, ids)
		}
		if got.Type == "task.completed" {
			t.Logf("%-45s %v chunks", name, got.Result["chunks"])
			if letters != 0 {
				t.Errorf("%s: it succeeded, and is in the dead letters %d times", name, letters)
			}
			continue
		}
		t.Logf("%-45s %s: %s", name, got.Error.Code, got.Error.Message)
		class := taskerr.Class(got.Error.Class)
		if class == taskerr.InternalBug || taskerr.Classes[class].Retryable || got.Error.Attempts != 1 {
			t.Errorf("%s: error class %s after %d attempts, want a permanent one after 1", name, class,
				got.Error.Attempts)
		}
		if strings.TrimSpace(got.Error.Message) == "" || letters != 1 {
			t.Errorf("%s: message %q, %d dead letters, want a message and 1", name, got.Error.Message, letters)
		}
	}
}
