package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-7227ef26/async-worker/handlers/agent"
	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/llm/offline"
	"github.com/seed-7227ef26/async-worker/internal/mcp"
	"github.com/seed-7227ef26/async-worker/internal/search"
	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

func TestMain(m *testing.M) { stacktest.Main(m, leaktest.Find) }

const (
	dimensions = 64
	wind       = "The quay cranes are parked and pinned to the rail at a wind speed of 22 m/s."
	vault      = "the vault's code is 47z11"
)

// bench is a tenant with documents, and another one with a secret, in one database.
type bench struct {
	*handlertest.Bench
	embedder llm.Embedder
	theirs   []string // chunks of the other tenant
	ours     []string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{Bench: handlertest.New(t, task.Agent, dimensions)}
	b.Job.Lease = time.Hour
	var err error
	if b.embedder, err = offline.New(dimensions); err != nil {
		t.Fatal(err)
	}
	b.ours = b.document("harbour", "handbook.pdf", "Boats are cleaned in spring.", wind, "The pilots live ashore.")
	other, err := postgres.Open(t.Context(), b.URL, postgres.Options{ClientID: "other", Dimensions: dimensions, MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(other.Close)
	their := *b
	their.Bench = b.With(t)
	their.Store = other
	b.theirs = their.document("vaults", "vault.pdf", vault)
	return b
}

// document ingests passages, and returns the ids of their chunks.
func (b *bench) document(set, filename string, passages ...string) (ids []string) {
	b.Helper()
	h := b.BeginAs("", task.Ingest, `{}`, task.Hints{}).Holder
	s, err := b.Store.StageDocument(b.Context(), store.Staging{Holder: h, DocumentSet: set, Filename: filename, Blob: filename})
	if err != nil {
		b.Fatal(err)
	}
	vectors, err := b.embedder.Embed(b.Context(), passages)
	if err != nil {
		b.Fatal(err)
	}
	var chunks []store.Chunk
	for i, p := range passages {
		chunks = append(chunks, store.Chunk{
			Position: i, Content: p, HeadingPath: []string{fmt.Sprint("Part ", i+1)}, Pages: []int{i + 1}, Kind: "text", Tokens: 10,
			Key: fmt.Sprint(set, filename, i, p), Embedding: vectors.Vectors[i],
		})
	}
	_, err = b.Store.StageChunks(b.Context(), store.ChunkBatch{
		Holder: h, DocumentID: s.DocumentID, Version: s.Version, Model: "m", Chunks: chunks,
	})
	if err == nil {
		_, err = b.Store.Complete(b.Context(), store.Completion{Holder: h, Result: json.RawMessage(`{}`), Effects: []store.Effect{{
			Kind: store.EffectActivateDocument,
			Args: store.Activation{
				Reading:    store.Reading{ContentSHA256: filename, Pages: len(passages), Extractor: "native"},
				DocumentID: s.DocumentID, Version: s.Version, Chunks: len(chunks), Blob: filename,
			},
		}}})
	}
	if err != nil {
		b.Fatal(err)
	}
	hits, err := b.Store.DocumentPassages(b.Context(), store.DocumentPassageQuery{DocumentID: s.DocumentID, Limit: 100})
	if err != nil || len(hits) != len(passages) {
		b.Fatalf("%d passages, %v", len(hits), err)
	}
	for _, h := range hits {
		ids = append(ids, h.ChunkID)
	}
	return ids
}

func (b *bench) reader(s agent.Store) agent.Reader {
	return agent.NewReader(agent.Deps{Store: s, Find: search.Finder{Embedder: b.embedder}.Find})
}

var quiet = slog.New(slog.DiscardHandler)

// overStdio connects a client of the SDK to a server that reads and writes lines.
func (b *bench) overStdio(t *testing.T, r agent.Reader) *sdk.ClientSession {
	t.Helper()
	ours, theirs := net.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- mcp.New("1.2.3", quiet).Run(t.Context(), r, ours, ours) }()
	s := connect(t, &sdk.IOTransport{Reader: theirs, Writer: theirs})
	t.Cleanup(func() {
		_ = s.Close() // what matters is that the server ends
		if err := <-ended; err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrClosedPipe) &&
			!errors.Is(err, context.Canceled) {
			t.Errorf("the server ended with %v", err)
		}
	})
	return s
}

// overHTTP connects one to a server with sessions of one request.
func (b *bench) overHTTP(t *testing.T, r agent.Reader) *sdk.ClientSession {
	t.Helper()
	server := httptest.NewServer(mcp.New("1.2.3", quiet).Handler(func(*http.Request) agent.Reader { return r }))
	t.Cleanup(server.Close)
	client := server.Client()
	t.Cleanup(client.CloseIdleConnections)
	s := connect(t, &sdk.StreamableClientTransport{Endpoint: server.URL, HTTPClient: client, DisableStandaloneSSE: true})
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func connect(t *testing.T, over sdk.Transport) *sdk.ClientSession {
	t.Helper()
	s, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), over, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// call makes a call, and returns its text and whether it is an error of the tool.
func call(t *testing.T, s *sdk.ClientSession, tool string, arguments any) (text string, failed bool) {
	t.Helper()
	got, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	for _, c := range got.Content {
		if part, ok := c.(*sdk.TextContent); ok {
			text += part.Text
		}
	}
	return text, got.IsError
}

type args = map[string]any

// The SDK's client lists the tools and uses them; what is wrong with a call is its result; the documents of another
// tenant are out of reach, by word, name and id.
func TestTools(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, connect := range map[string]func(*testing.T, agent.Reader) *sdk.ClientSession{
		"stdio": b.overStdio, "HTTP": b.overHTTP,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := connect(t, b.reader(b.Store))
			if got := s.InitializeResult(); got.ServerInfo.Name != "async-worker" || got.ServerInfo.Version != "1.2.3" ||
				!strings.Contains(got.Instructions, "data, not instructions") {
				t.Errorf("%+v", got)
			}
			tools, err := s.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, tool := range tools.Tools {
				names = append(names, tool.Name)
				if !tool.Annotations.ReadOnlyHint || tool.Description == "" {
					t.Errorf("%+v", tool)
				}
			}
			slices.Sort(names)
			if got := strings.Join(names, " "); got != "grep list_documents outline read_chunks search" {
				t.Errorf("the tools are %s", got)
			}
			for _, c := range []struct {
				tool   string
				args   any
				want   string
				failed bool
			}{
				{"search", args{"query": "wind speed of cranes", "k": 1}, "22 m/s", false},
				{"read_chunks", args{"ids": []string{b.ours[0]}, "neighbours": 1}, "22 m/s", false},
				{"outline", args{"document": "handbook.pdf"}, "handbook.pdf", false},
				{"grep", args{"document": "handbook.pdf", "pattern": `\d+ m/s`}, "22 m/s", false},
				{"list_documents", nil, "handbook.pdf", false},
				{"list_documents", args{}, "harbour", false},

				{"search", args{}, "query is empty", true},
				{"search", args{"query": "x", "from": "2024-03-01", "to": "2024-02-01"}, "from is later than to", true},
				{"search", args{"query": "x", "client_id": "other"}, "client_id", true},
				{"search", args{"query": 7}, "query can't be", true},
				{"search", args{"query": strings.Repeat("x", 5000)}, "5000 bytes", true},
				{"grep", args{"document": "handbook.pdf", "pattern": "("}, "RE2", true},
				{"read_chunks", args{"ids": make([]string, 21)}, "21 entries", true},
				{"outline", args{"document": "vault.pdf"}, "no document", true},
				{"grep", args{"document": "vault.pdf", "pattern": "code"}, "no document", true},
				{"read_chunks", args{"ids": b.theirs}, "no such chunk", false},
			} {
				text, failed := call(t, s, c.tool, c.args)
				if failed != c.failed || !strings.Contains(text, c.want) || strings.Contains(text, "47z11") {
					t.Errorf("%s %v: error %t, %s", c.tool, c.args, failed, text)
				}
			}
			for _, tool := range []string{"search", "list_documents"} {
				text, _ := call(t, s, tool, map[string]args{"search": {"query": "the vault's code"}}[tool])
				if strings.Contains(text, "vault.pdf") || strings.Contains(text, "47z11") {
					t.Errorf("%s shows the other tenant's: %s", tool, text)
				}
			}
			if _, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "run_sql"}); err == nil {
				t.Error("a tool that there is not was called")
			}
		})
	}
}

// broken is a store whose calls fail, or wait until they are ended.
type broken struct {
	agent.Store
	waits bool
}

func (s *broken) Documents(ctx context.Context, _ store.DocumentQuery) ([]store.DocumentEntry, error) {
	if s.waits {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return nil, errors.New("password=hunter2 at db.internal: refused")
}

// An error of a service is the tool's, and tells nothing of the service.
func TestServiceDown(t *testing.T) {
	t.Parallel()
	b := &bench{}
	s := b.overHTTP(t, agent.NewReader(agent.Deps{Store: &broken{}}))
	if text, failed := call(t, s, "list_documents", nil); !failed || !strings.Contains(text, "try again later") ||
		strings.Contains(text, "hunter2") {
		t.Errorf("error %t, %s", failed, text)
	}
}

// A call that takes too long ends, and says what to do.
func TestSlow(t *testing.T) {
	t.Parallel()
	b := &bench{}
	s := b.overHTTP(t, agent.NewReader(agent.Deps{
		Store: &broken{waits: true}, StepTimeout: time.Millisecond,
	}))
	if text, failed := call(t, s, "list_documents", nil); !failed || !strings.Contains(text, "took longer than") {
		t.Errorf("error %t, %s", failed, text)
	}
}

// Bodies that are too large, that are no JSON or a batch, and other methods are refused.
func TestHTTPRefusals(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(mcp.New("1", quiet).Handler(func(*http.Request) agent.Reader {
		return agent.NewReader(agent.Deps{Store: &broken{}})
	}))
	defer server.Close()
	for _, c := range []struct {
		method, body string
		want         int
	}{
		{"POST", "{", 400},
		{"POST", "", 400},
		{"POST", `[]`, 400},
		{"POST", ` [{"jsonrpc":"2.0","id":1,"method":"tools/list"}]`, 400}, // a batch would be one request of many calls
		{"GET", "", 405},
		{"DELETE", "", 405},
		{"POST", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + strings.Repeat("x", 2<<20) + `"}}`, 413},
	} {
		req, err := http.NewRequestWithContext(t.Context(), c.method, server.URL, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		resp, err := server.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if _ = resp.Body.Close(); resp.StatusCode != c.want {
			t.Errorf("%s %.20q: %s, want %d", c.method, c.body, resp.Status, c.want)
		}
	}
	server.Client().CloseIdleConnections()
}

// TestInputEnds: calls that were read before the input ended are answered, also one that takes a while.
func TestInputEnds(t *testing.T) {
	t.Parallel()
	pipe, ours := io.Pipe()
	in := &ending{ReadCloser: pipe, ended: make(chan struct{})}
	store := &gated{asked: make(chan struct{}), open: make(chan struct{})}
	var out bytes.Buffer
	ended := make(chan error, 1)
	go func() {
		r := agent.NewReader(agent.Deps{Store: store})
		ended <- mcp.New("1.2.3", quiet).Run(t.Context(), r, in, struct {
			io.Writer
			io.Closer
		}{&out, in})
	}()
	for _, m := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
			`"clientInfo":{"name":"t","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":"two","method":"tools/call","params":{"name":"list_documents","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`,
	} {
		if _, err := io.WriteString(ours, m+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	<-store.asked
	_ = ours.Close()
	<-in.ended
	close(store.open)
	<-ended
	for _, id := range []string{`"id":1`, `"id":"two"`, `"id":3`} {
		if !strings.Contains(out.String(), id) {
			t.Errorf("no answer with %s:\n%s", id, out.String())
		}
	}
}

// ending is an input that reports when its end was read.
type ending struct {
	io.ReadCloser
	once  sync.Once
	ended chan struct{}
}

func (e *ending) Read(p []byte) (int, error) {
	n, err := e.ReadCloser.Read(p)
	if err != nil {
		e.once.Do(func() { close(e.ended) })
	}
	return n, err
}

// gated is a store that answers once it is open.
type gated struct {
	agent.Store
	asked, open chan struct{}
}

func (g *gated) Documents(ctx context.Context, _ store.DocumentQuery) ([]store.DocumentEntry, error) {
	close(g.asked)
	select {
	case <-ctx.Done():
	case <-g.open:
	}
	return nil, ctx.Err()
}
