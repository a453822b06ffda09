package cli

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// indexed is a store with an empty index, for Cognee.
type indexed struct{ *rows }

func (indexed) CogneeIndex(context.Context, string, int) (store.CogneeIndex, error) {
	return store.CogneeIndex{Now: noon}, nil
}

// hungService is a command and the setting that makes its service one that takes connections and never answers.
type hungService struct {
	command string
	env     []string // %s: the address
	code    int
	notice  string
	says    []string // %s: the address
}

func (h hungService) run(t *testing.T, address string) result {
	t.Helper()
	env := testEnv()
	for _, line := range h.env {
		env = append(env, strings.ReplaceAll(line, "%s", address))
	}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	w := &interrupting{at: "\x00", end: end}
	if h.code == exitInterrupted {
		w.at = "has not answered"
	}
	p := &program{
		env: env, stdin: strings.NewReader(""), stdout: w, stderr: w, patience: 500 * time.Millisecond,
		open: func(ctx context.Context, cfg config.Config, log *slog.Logger, needs app.Needs) (*app.Tenant, error) {
			tenant, err := app.Open(ctx, cfg, log, needs&^config.Store)
			if err == nil && needs&config.Store != 0 {
				tenant.Store = indexed{&rows{}}
			}
			return tenant, err
		},
	}
	code := p.run(ctx, strings.Fields(h.command))
	w.mu.Lock()
	defer w.mu.Unlock()
	return result{code, "", w.said.String()}
}

// A command soon names a service that does not answer, with its address, and ends long before a worker would give up,
// in plain words.
func TestHungServiceEndsCommands(t *testing.T) {
	t.Parallel()
	page := filepath.Join(t.TempDir(), "tides.html")
	if err := os.WriteFile(page, []byte("<html><body><p>High at noon.</p></body></html>"), 0o600); err != nil {
		t.Fatal(err)
	}
	storage := "AZURE_STORAGE_CONNECTION_STRING=" + testConnection +
		"BlobEndpoint=http://%s/devstoreaccount1;QueueEndpoint=http://%s/devstoreaccount1;"
	const account = "the storage account at %s has not answered for 250ms; waiting until 500ms have passed"
	const remedy = "is the storage account reachable? check AZURE_STORAGE_CONNECTION_STRING"
	for name, h := range map[string]hungService{
		"upload": {
			"enqueue --document-set s --upload " + page,
			[]string{storage},
			exitTemporary, account,
			[]string{"no answer from %s within 500ms", remedy},
		},
		"summarize": {
			"summarize --upload " + page,
			[]string{storage},
			exitTemporary, account,
			[]string{"no answer from %s within 500ms", remedy},
		},
		"send": {
			"enqueue --filename a.pdf --document-set s",
			[]string{storage},
			exitTemporary, account,
			[]string{"no answer from %s within 500ms", remedy},
		},
		"interrupted": {
			"enqueue --id t-1 --filename a.pdf --document-set s",
			[]string{storage},
			exitInterrupted, account,
			[]string{"the task may be in the queue already", "async-worker enqueue --id t-1 …"},
		},
		"depth": {"queue", []string{storage}, exitTemporary, account, []string{"no answer from %s within 500ms", remedy}},
		"cognee": {
			"cognee reconcile --dry-run",
			[]string{"COGNEE_URL=http://%s"},
			exitUnavailable, "Cognee at %s has not answered",
			[]string{"no answer from %s within 500ms", nextCognee},
		},
		"docling": {
			"extract " + page,
			[]string{"EXTRACTOR=docling", "DOCLING_URL=http://%s"},
			exitTemporary, "docling-serve at %s has not answered",
			[]string{"no answer from %s within 500ms", "what to do: is docling-serve running, and DOCLING_URL its address?"},
		},
		"model": { // it may take as long as STEP_TIMEOUT_SEC
			"search cranes",
			[]string{"LLM_PROVIDER=openai", "OPENAI_API_KEY=k", "OPENAI_BASE_URL=http://%s/v1"},
			exitInterrupted, "the model service at %s has not answered for 250ms; still waiting", nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := silent(t)
			r := h.run(t, address)
			for _, text := range append(h.says, h.notice) {
				r.want(t, h.code, strings.ReplaceAll(text, "%s", address))
			}
			if strings.Contains(r.errOut, "net/http") || strings.Count(r.errOut, "has not answered") != 1 {
				t.Errorf("%s", r.errOut)
			}
		})
	}
}
