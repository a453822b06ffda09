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
	"github.com/seed-7227ef26/async-worker/webhook/webhooktest"
)

// corpus returns a folder of real documents that lies beside the project, and skips without it.
func corpus(t *testing.T, folder string) string {
	t.Helper()
	root, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "..", "shared", "corpus", folder)
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no ../shared/corpus beside the project")
	}
	return dir
}

// files are the names in dir with one of the extensions; all without any.
func files(t *testing.T, dir string, extensions ...string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if len(extensions) == 0 || slices.Contains(extensions, filepath.Ext(e.Name())) {
			names = append(names, e.Name())
		}
	}
	return names
}

// ingestAll uploads and enqueues files, and returns the webhook of each.
func (b *bed) ingestAll(dir string, names []string) map[string]webhooktest.Delivery {
	b.t.Helper()
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			b.t.Fatal(err)
		}
		b.upload(name, content)
		b.send(b.ingest(name, name))
	}
	outcomes := map[string]webhooktest.Delivery{}
	for _, name := range names {
		outcomes[name] = b.await(b.ctx, name)
	}
	return outcomes
}

var markdownHeading = regexp.MustCompile(`(?m)^#{1,6} \S`)

// TestRealDocuments: each ends succeeded, with chunks that carry page and heading path where the
// format has them.
func TestRealDocuments(t *testing.T) {
	t.Parallel()
	dir := corpus(t, "documents")
	names := files(t, dir, ".pdf", ".docx", ".html", ".md", ".csv", ".txt")
	b := newBed(t, "LLM_PROVIDER=offline")
	b.start()
	for name, got := range b.ingestAll(dir, names) {
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
		if hasHeadings(dir, name) && headed == 0 {
			t.Errorf("%s: it has headings, but no chunk has a heading path", name)
		}
	}
	expect(b, "jobs that did not succeed", 0, "select count(*) from jobs where status <> 'succeeded'")
	expect(b, "versions beside the active ones", 0, "select count(*) from document_versions where status <> 'active'")
}

// hasHeadings asks what another extractor made of the document; that of a PDF is a guess for all.
func hasHeadings(dir, name string) bool {
	if ext := filepath.Ext(name); ext == ".pdf" || ext == ".csv" {
		return false
	}
	reference, err := os.ReadFile(filepath.Join(dir, "..", "docling", name+".md"))
	return err == nil && markdownHeading.Match(reference)
}

// TestHostileFiles: each ends in a result or in one clear error, at the first attempt.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	dir := corpus(t, "hostile")
	b := newBed(t, "LLM_PROVIDER=offline")
	b.start()
	for name, got := range b.ingestAll(dir, files(t, dir)) {
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
