package docling_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/seed-7227ef26/async-worker/internal/docling"
	"github.com/seed-7227ef26/async-worker/internal/docling/doclingtest"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// bench is a client of a fake server, in the virtual time of a synctest bubble.
type bench struct {
	*testing.T
	server *doclingtest.Server
	client *docling.Client
	memory *memory
	shelf  *shelf
	file   string
}

func inBubble(t *testing.T, options doclingtest.Options, test func(b *bench)) {
	t.Helper()
	dir := t.TempDir()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		options.InMemory = true
		b := &bench{
			T: t, server: doclingtest.New(t, options), memory: &memory{}, shelf: &shelf{},
			file: filepath.Join(dir, "a.pdf"),
		}
		if err := os.WriteFile(b.file, []byte("%PDF-1.7 of a test"), 0o600); err != nil {
			t.Fatal(err)
		}
		b.client = b.connect(docling.Options{})
		test(b)
		if left, err := filepath.Glob(filepath.Join(dir, "docling-*")); err != nil || len(left) > 0 {
			t.Errorf("temporary files are left: %v, %v", left, err)
		}
	})
}

func (b *bench) connect(o docling.Options) *docling.Client {
	b.Helper()
	o.URL, o.HTTP, o.TempDir = b.server.URL(), b.server.Client(), filepath.Dir(b.file)
	if o.APIKey == "" {
		o.APIKey = doclingtest.Key
	}
	c, err := docling.New(o)
	if err != nil {
		b.Fatal(err)
	}
	return c
}

func (b *bench) request() docling.Request {
	return docling.Request{Path: b.file, Name: "document.pdf", SHA256: "5ca1ab1e", Options: []docling.Field{
		{Name: "target_type", Value: "inbody"},
		{Name: "to_formats", Value: "json"},
		{Name: "document_timeout", Value: "1000"},
	}}
}

func (b *bench) convert() (*docling.Result, error) {
	return b.client.Convert(b.Context(), b.request(), b.memory, b.shelf)
}

// good converts, and expects a document.
func (b *bench) good() *docling.Result {
	b.Helper()
	r, err := b.convert()
	if err != nil {
		b.Fatal(err)
	}
	if r.Document == nil || len(r.Document.Items["texts"]) != 6 || len(r.Document.Pages) != 1 {
		b.Fatalf("got %+v", r.Document)
	}
	return r
}

// fails converts, and expects an error of a class.
func (b *bench) fails(class taskerr.Class, dependency taskerr.Dependency, message string) *taskerr.Error {
	b.Helper()
	_, err := b.convert()
	e, ok := errors.AsType[*taskerr.Error](err)
	if !ok || e.Class != class || e.Dependency != dependency || !strings.Contains(e.Message, message) {
		b.Fatalf("got %v (%+v), want %s of %q that says %q", err, e, class, dependency, message)
	}
	return e
}

func (b *bench) paid(want int) {
	b.Helper()
	if got := b.server.Conversions(); got != want {
		b.Errorf("%d conversions were paid, want %d", got, want)
	}
}

// memory is a checkpoint.
type memory struct {
	mu    sync.Mutex
	saved []byte
}

func (m *memory) Load(v any) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.saved != nil && json.Unmarshal(m.saved, v) == nil
}

func (m *memory) Save(v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.saved = raw
}

// shelf keeps results in memory.
type shelf struct {
	kept   map[string]string
	broken bool
}

func (s *shelf) Open(_ context.Context, sha256 string) (io.ReadCloser, error) {
	text, ok := s.kept[sha256]
	switch {
	case s.broken:
		return nil, errors.New("the shelf is broken")
	case !ok:
		return nil, nil
	}
	return io.NopCloser(strings.NewReader(text)), nil
}

func (s *shelf) Put(_ context.Context, sha256 string, result io.Reader) error {
	raw, err := io.ReadAll(result)
	if s.broken {
		return errors.New("the shelf is broken")
	}
	if s.kept == nil {
		s.kept = map[string]string{}
	}
	s.kept[sha256] = string(raw)
	return err
}
