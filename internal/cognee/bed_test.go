package cognee_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/cognee"
	"github.com/seed-7227ef26/async-worker/internal/cognee/cogneetest"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

const (
	client     = "southhaven"
	dimensions = 4
)

// bed is a tenant's index, a stand-in for Cognee, and what is to be in it.
type bed struct {
	t        testing.TB
	database string
	store    store.Store
	server   *cogneetest.Server
	seen     chan struct{} // capacity 1: something was observed
	mu       sync.Mutex
	did      map[string]int // observations
}

func newBed(t testing.TB, o cogneetest.Options) *bed {
	t.Helper()
	url := stacktest.PostgresWith(t, schema.Options{Dimensions: dimensions})
	s, err := postgres.Open(t.Context(), url, postgres.Options{ClientID: client, MaxConns: 8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := s.OpenCognee(t.Context()); err != nil {
		t.Fatal(err)
	}
	return &bed{
		t: t, database: url, store: s, server: cogneetest.New(t, o), seen: make(chan struct{}, 1), did: map[string]int{},
	}
}

func newClient(t testing.TB, url string) *cognee.Client {
	t.Helper()
	c, err := cognee.New(cognee.Options{URL: url, APIKey: cogneetest.Key})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseIdle)
	return c
}

// config is that of a loop with short waits.
func (b *bed) config() cognee.Config {
	return cognee.Config{
		Store: b.store, Client: newClient(b.t, b.server.URL()), ClientID: client, Worker: "w1",
		Log: slog.New(slog.DiscardHandler), Poll: 50 * time.Millisecond, Quiet: time.Millisecond,
		Grace: time.Minute, FirstProbe: time.Millisecond, FirstRetry: time.Millisecond, Unlisted: 300 * time.Millisecond,
		Observe: b.observe,
	}
}

func (b *bed) observe(o cognee.Observation) {
	b.mu.Lock()
	b.did[o.Outcome+o.Cognify]++
	b.mu.Unlock()
	select {
	case b.seen <- struct{}{}:
	default:
	}
}

func (b *bed) count(outcome string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.did[outcome]
}

// run runs a loop until the condition holds, and then ends it.
func (b *bed) run(cfg cognee.Config, until func() bool) {
	b.t.Helper()
	l, err := cognee.NewLoop(cfg)
	if err != nil {
		b.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(b.t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); l.Run(ctx) }()
	defer func() { stop(); <-ended }()
	for !until() {
		select {
		case <-b.seen:
		case <-time.After(20 * time.Millisecond): // what is awaited may be no attempt's doing
		case <-b.t.Context().Done():
			b.t.Fatal("the test was stopped")
		}
	}
}

// settled reports whether nothing waits, neither documents nor datasets.
func (b *bed) settled() bool {
	s := b.state()
	for _, d := range s.Datasets {
		if d.State == "running" || d.State == "idle" && d.Changes > 0 {
			return false
		}
	}
	return s.Pending == 0
}

func (b *bed) state() store.CogneeState {
	b.t.Helper()
	s, err := b.store.CogneeState(context.Background()) // also while the test ends
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

func (b *bed) exec(sql string) {
	b.t.Helper()
	conn, err := pgx.Connect(b.t.Context(), b.database)
	if err != nil {
		b.t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(b.t.Context()))
	if _, err := conn.Exec(b.t.Context(), sql); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bed) begin(filename string) store.Holder {
	b.t.Helper()
	id := uuid.NewString()
	answer, err := b.store.Begin(b.t.Context(), store.Begin{
		Task: store.Task{
			JobID: id, Type: "ingest", Payload: json.RawMessage(fmt.Sprintf(`{"filename":%q}`, filename)),
			Hints: json.RawMessage(`{}`), Priority: "normal", Fingerprint: "f", MaxAttempts: 1,
		},
		Worker: "w", Lease: time.Hour, ID: uuid.NewString(), Original: "{}",
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return store.Holder{JobID: id, Fence: answer.Fence}
}

func (b *bed) stage(set, filename string) (store.Holder, store.StagedVersion) {
	b.t.Helper()
	h := b.begin(filename)
	s, err := b.store.StageDocument(b.t.Context(), store.Staging{
		Holder: h, DocumentSet: set, Filename: filename, Blob: filename,
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return h, s
}

func (b *bed) complete(h store.Holder, kind string, args any) {
	b.t.Helper()
	if _, err := b.store.Complete(b.t.Context(), store.Completion{
		Holder: h, Result: json.RawMessage(`{}`), Effects: []store.Effect{{Kind: kind, Args: args}},
	}); err != nil {
		b.t.Fatal(err)
	}
}

// ingest makes the next version of a document, with the given chunks, and returns the document's id.
func (b *bed) ingest(set, filename string, chunks ...string) string {
	b.t.Helper()
	h, s := b.stage(set, filename)
	batch := store.ChunkBatch{Holder: h, DocumentID: s.DocumentID, Version: s.Version, Model: "m"}
	for i, content := range chunks {
		batch.Chunks = append(batch.Chunks, store.Chunk{
			Position: i, Content: content, Key: uuid.NewString(), Embedding: []float32{1, 0, 0, 0},
		})
	}
	if _, err := b.store.StageChunks(b.t.Context(), batch); err != nil {
		b.t.Fatal(err)
	}
	b.complete(h, store.EffectActivateDocument, store.Activation{
		DocumentID: s.DocumentID, Version: s.Version, Chunks: len(chunks), Blob: filename,
		Reading: store.Reading{ContentSHA256: "sha of " + filename, Pages: 3},
	})
	return s.DocumentID
}

func (b *bed) delete(set, filename string) {
	b.t.Helper()
	h, s := b.stage(set, filename)
	b.complete(h, store.EffectDeleteDocument, store.Deletion{DocumentID: s.DocumentID, Version: s.Version})
}

// index is what Cognee is to have: the text of each active document, by its id.
func (b *bed) index() map[string]string {
	b.t.Helper()
	want := map[string]string{}
	for after := ""; ; {
		page, err := b.store.CogneeIndex(b.t.Context(), after, 1000)
		if err != nil {
			b.t.Fatal(err)
		}
		for _, d := range page.Documents {
			text, err := b.store.CogneeText(b.t.Context(), store.CogneeTextQuery{
				DocumentID: d.DocumentID, Version: d.Version, Limit: 1000,
			})
			if err != nil || !text.Active {
				b.t.Fatalf("text of %s: %+v, %v", d.DocumentID, text, err)
			}
			want[d.DocumentID] = strings.Join(text.Chunks, "\n\n")
			after = d.DocumentID
		}
		if len(page.Documents) < 1000 {
			return want
		}
	}
}

// equal compares what Cognee has with the index.
func (b *bed) equal() {
	b.t.Helper()
	rows, want := b.server.Rows(), b.index()
	for id, text := range want {
		if len(rows[id]) != 1 {
			b.t.Errorf("Cognee has document %s %d times", id, len(rows[id]))
			continue
		}
		head, body, _ := strings.Cut(rows[id][0].Content, "\n\n")
		if !strings.Contains(head, id) || strings.TrimSpace(body) != strings.TrimSpace(text) {
			b.t.Errorf("document %s is %q, want %q", id, rows[id][0].Content, text)
		}
	}
	for id := range rows {
		if _, ok := want[id]; !ok {
			b.t.Errorf("Cognee has document %s, which is not in the index", id)
		}
	}
}

// write is the text of a document for Client.Put.
func write(text string) func(context.Context, io.Writer) error {
	return func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}
