package e2e

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-7227ef26/async-worker/internal/apitoken"
	"github.com/seed-7227ef26/async-worker/internal/stack"
)

// TestFrontAndMCP: two tenants' workers behind the proxy, as the programs that users run. Each token reaches its own
// tenant's API and tools only, though the proxy runs as the workers' user; a program that starts async-worker mcp reads
// the same documents.
func TestFrontAndMCP(t *testing.T) {
	t.Parallel()
	runtime := t.TempDir()
	var tenants []fronted
	for _, text := range []string{
		"# Tides\n\nHigh water comes earlier each week at the north quay.\n",
		"# Vault\n\nThe code of the north vault is 47z11.\n",
	} {
		tenants = append(tenants, newFronted(t, runtime, text))
	}
	base := startFront(tenants[0].b, runtime)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for i, own := range tenants {
		at := base + "/t/" + own.b.client
		o := operator{b: own.b, client: client, base: at, token: own.token}
		o.expect("/v1/jobs", http.StatusOK, "succeeded")
		o.expect("/metrics", http.StatusUnauthorized)
		for _, token := range []string{"", tenants[1-i].token} {
			stranger := operator{b: own.b, client: client, base: at, token: token}
			stranger.expect("/v1/jobs", http.StatusUnauthorized)
			stranger.post("/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, http.StatusUnauthorized)
			stranger.expect("/status", http.StatusUnauthorized)
		}
		overHTTP := session(own.b, &mcp.StreamableClientTransport{
			Endpoint: at + "/mcp", HTTPClient: &http.Client{Transport: bearer{own.token}}, DisableStandaloneSSE: true,
		})
		file, err := program()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(own.b.ctx, file, "mcp")
		cmd.Env = own.b.env
		overStdio := session(own.b, &mcp.CommandTransport{Command: cmd})
		for over, s := range map[string]*mcp.ClientSession{"HTTP": overHTTP, "stdio": overStdio} {
			found, err := s.CallTool(own.b.ctx, &mcp.CallToolParams{Name: "search", Arguments: map[string]any{"query": "north"}})
			if err != nil || found.IsError || len(found.Content) != 1 {
				t.Fatalf("search over %s: %+v, %v", over, found, err)
			}
			raw, err := found.Content[0].MarshalJSON()
			if text := string(raw); err != nil || !strings.Contains(text, own.want) || strings.Contains(text, tenants[1-i].want) {
				t.Errorf("over %s %s found %s", over, own.b.client, text)
			}
		}
	}
	tenants[0].w.signal(syscall.SIGTERM)
	if err := tenants[0].w.exit(); err != nil {
		t.Errorf("the worker ended with %v", err)
	}
	gone := operator{b: tenants[0].b, client: client, base: base + "/t/" + tenants[0].b.client, token: tenants[0].token}
	gone.expect("/v1/jobs", http.StatusBadGateway, "TENANT_UNAVAILABLE")
	other := operator{b: tenants[1].b, client: client, base: base + "/t/" + tenants[1].b.client, token: tenants[1].token}
	other.expect("/v1/jobs", http.StatusOK)
	tenants[0].b.start()
	gone.expect("/v1/jobs", http.StatusOK)
}

// fronted is a tenant behind the proxy, with a document.
type fronted struct {
	b           *bed
	w           *worker
	token, want string
}

func newFronted(t *testing.T, runtime, text string) fronted {
	t.Helper()
	token, entry, err := apitoken.New("web", apitoken.Submit)
	if err != nil {
		t.Fatal(err)
	}
	b := newBed(t, "LLM_PROVIDER=offline", "API_TOKENS="+entry.String())
	dir := filepath.Join(runtime, b.client)
	if err := os.Mkdir(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	b.env = append(b.env, "RUNTIME_DIRECTORY="+dir)
	w := b.start()
	b.upload("note.md", []byte(text))
	o := b.atSocket(dir)
	events, stop := o.follow("/v1/events")
	defer stop()
	id := o.post("/v1/jobs", `{"type":"ingest","payload":{"filename":"note.md","document_set":"e2e"}}`, http.StatusCreated)["id"]
	for e := range events {
		if e["jobId"] == id && e["stage"] == "completed" {
			break
		}
	}
	return fronted{b, w, token, strings.Fields(text)[len(strings.Fields(text))-1]}
}

// startFront starts the proxy, and returns its address.
func startFront(b *bed, runtime string) (base string) {
	b.t.Helper()
	file, err := program()
	if err != nil {
		b.t.Fatal(err)
	}
	port, err := stack.FreePort()
	if err != nil {
		b.t.Fatal(err)
	}
	addr := "127.0.0.1:" + strconv.Itoa(port)
	log := &bytes.Buffer{}
	p, err := stack.Start(b.ctx, stack.Command{
		Name: "front", Path: file, Args: []string{"front", "--addr", addr, "--runtime", runtime}, Env: []string{"LOG_FORMAT=text", "GORACE=" + os.Getenv("GORACE")},
		Log: log, Up: func(ctx context.Context) error {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/livez", http.NoBody)
			if err != nil {
				return err
			}
			resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
			if err != nil {
				return err
			}
			return resp.Body.Close()
		},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		if err := p.Stop(syscall.SIGTERM, 10*time.Second); err != nil {
			b.t.Error(err)
		}
		if b.t.Failed() {
			b.t.Logf("the proxy's log:\n%s", log)
		}
	})
	return "http://" + addr
}

// bearer sends each request with a token, on a connection of its own.
type bearer struct{ token string }

// RoundTrip implements http.RoundTripper.
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
}

func session(b *bed, over mcp.Transport) *mcp.ClientSession {
	b.t.Helper()
	s, err := mcp.NewClient(&mcp.Implementation{Name: "e2e", Version: "1"}, nil).Connect(b.ctx, over, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = s.Close() })
	return s
}
