// Package corpus lists the documents that suites read: our own, which every clone has, and those of third parties in
// ../shared/corpus, if that folder is beside the repository.
package corpus

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/stack"
)

// Missing is why tests skip that need documents of third parties.
const Missing = "no ../shared/corpus beside the repository: put documents/NAME and docling/NAME.md of Docling there"

// Documents returns the paths of documents that can be read.
func Documents(t testing.TB) []string {
	t.Helper()
	var samples []string
	for _, path := range glob(t, "dev", "samples") {
		if filepath.Base(path) != "README.md" && filepath.Base(path) != "make" {
			samples = append(samples, path)
		}
	}
	if len(samples) == 0 {
		t.Fatal("dev/samples is empty")
	}
	return append(samples, glob(t, "..", "shared", "corpus", "documents")...)
}

// Reference returns the Markdown of one of our own documents, as a person checked it.
func Reference(t testing.TB, path string) (markdown string, own bool) {
	t.Helper()
	if filepath.Base(filepath.Dir(path)) != "samples" {
		return "", false
	}
	root, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "test", "corpus", "testdata", filepath.Base(path)+".md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text), true
}

// Hostile returns the paths of documents that are damaged or misdeclared.
func Hostile(t testing.TB) []string {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for _, path := range glob(t, "dev", "samples") {
		ext := filepath.Ext(path)
		if ext != ".pdf" && ext != ".docx" && ext != ".html" {
			continue
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		stem := strings.TrimSuffix(filepath.Base(path), ext) // two samples may be of one kind
		other := map[string]string{".pdf": ".docx", ".docx": ".pdf", ".html": ".pdf"}[ext]
		for name, text := range map[string][]byte{
			"own-empty-" + stem + ext:                     nil,
			"own-half-" + stem + ext:                      content[:len(content)/2],
			"own-zeros-" + stem + ext:                     make([]byte, 4096),
			"own-renamed-" + stem + "-" + ext[1:] + other: content,
			"own-torn-" + stem + ext:                      bytes.Join([][]byte{content[:64], content[256:]}, nil),
			"own-doubled-" + stem + ext:                   append(bytes.Clone(content), content...),
			"own-header-only-" + stem + ext:               content[:16],
		} {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			paths = append(paths, path)
		}
	}
	return append(paths, glob(t, "..", "shared", "corpus", "hostile")...)
}

// glob returns the files of a folder, named from the repository's root.
func glob(t testing.TB, folder ...string) []string {
	t.Helper()
	root, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(filepath.Join(root, filepath.Join(folder...), "*"))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}
