package app

import (
	"context"
	"image"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
	"github.com/seed-7227ef26/async-worker/internal/llm/token"
	"github.com/seed-7227ef26/async-worker/internal/metrics"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// What a model is paid for reading pages is in the metric of chat tokens.
func TestTokensOfPagesAreCounted(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t, llmtest.Options{})
	log := slog.New(slog.DiscardHandler)
	tenant := &Tenant{
		Config: modelConfig(func(c *config.Config) { c.OCR.BaseURL, c.OCR.APIKey = s.URL(), config.NewSecret(llmtest.Key) }),
		log:    log, counter: token.New(), metrics: metrics.New(metrics.Options{Log: log}),
	}
	e, err := tenant.openVision(1, nil)
	if err != nil {
		t.Fatal(err)
	}
	img := image.NewGray(image.Rect(0, 0, 100, 200))
	img.Pix[0] = 255
	if _, err := e.Read(t.Context(), ocr.Image{Gray: img, DPI: 200}); err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	tenant.metrics.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody))
	if !regexp.MustCompile(`chat_tokens_total\{[^}]*kind="prompt"\} [1-9]`).MatchString(w.Body.String()) {
		t.Error("no tokens are counted")
	}
}

// reader is a handler that reads a page of ten tokens.
type reader struct{ handlers.Handler }

func (reader) Spec() handlers.Spec {
	return handlers.Spec{Needs: []taskerr.Dependency{taskerr.Database}}
}

func (reader) Handle(ctx context.Context, _ handlers.Call) (handlers.Outcome, error) {
	ocr.Spend(ctx, ocr.Usage{PromptTokens: 9, CompletionTokens: 1})
	return handlers.Outcome{Result: ocr.Spent(ctx)}, nil
}

// selective is one that knows what each of its tasks needs.
type selective struct{ reader }

func (selective) Needs(task.Task) []taskerr.Dependency { return []taskerr.Dependency{taskerr.Storage} }

// Each attempt has the tokens of OCR_MAX_TOKENS for itself, and needs what it needed without a limit.
func TestLimitTokens(t *testing.T) {
	t.Parallel()
	for _, most := range []int{10, 11} {
		all := handlers.Registry{"a": reader{}, "b": selective{}}
		limitTokens(all, most)
		for name, need := range map[task.Type]taskerr.Dependency{"a": taskerr.Database, "b": taskerr.Storage} {
			for range 2 {
				if out, err := all[name].Handle(t.Context(), handlers.Call{}); err != nil || out.Result != (most == 10) {
					t.Errorf("%s with %d: spent %v, %v", name, most, out.Result, err)
				}
			}
			if s, ok := all[name].(handlers.Selective); !ok || !slices.Equal(s.Needs(task.Task{}), []taskerr.Dependency{need}) {
				t.Errorf("%s needs something else", name)
			}
		}
	}
}
