package ocr_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	handler "github.com/seed-7227ef26/async-worker/handlers/ocr"
	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
	"github.com/seed-7227ef26/async-worker/internal/llm/openai"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/ocr/pages"
	"github.com/seed-7227ef26/async-worker/internal/ocr/vision"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// kept is a cache.
type kept struct {
	mu       sync.Mutex
	readings map[string][]byte
}

func (k *kept) Get(_ context.Context, source, reader string, first, count int) map[int][]byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	found := map[int][]byte{}
	for n := first; n < first+count; n++ {
		if r, ok := k.readings[fmt.Sprint(source, reader, n)]; ok {
			found[n] = r
		}
	}
	return found
}

func (k *kept) Put(_ context.Context, source, reader string, page int, reading []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.readings[fmt.Sprint(source, reader, page)] = reading
}

// A task whose tokens are spent asks the model for no further page, and says so. What is missing then, or was read by another
// engine, is read by the model when the task comes with more of them; what was paid for is not asked again, and counts.
func TestTokensOfATask(t *testing.T) {
	t.Parallel()
	for name, fallback := range map[string]ocr.Engine{"unread": nil, "another engine": &fake{}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := llmtest.New(t, llmtest.Options{Reply: func(llmtest.ChatRequest) llmtest.Reply { return llmtest.Reply{Text: "A page"} }})
			chat, err := openai.NewChat(openai.Config{
				BaseURL: s.URL(), APIKey: llmtest.Key, Model: "gpt-4o-mini", HTTPClient: s.Client(), Dependency: taskerr.OCR,
			})
			if err != nil {
				t.Fatal(err)
			}
			b := newBench(t, vision.New(chat, vision.Options{Fallback: fallback}), func(d *handler.Deps) {
				d.Reader.Budget, d.Reader.Cache = pages.NewBudget(1), &kept{readings: map[string][]byte{}}
			})
			b.putPDF("a.pdf", numbered(t, 3)...)
			for n, want := range []struct {
				tokens, requests int
				left             string // by the model
			}{{1, 1, "2 of 3 pages"}, {1, 1, "2 of 3 pages"}, {1_000_000, 3, ""}, {1, 3, ""}} {
				c := b.Begin(`{"filename":"a.pdf"}`, task.Hints{})
				out, err := b.handler.Handle(ocr.WithTokens(t.Context(), want.tokens), c)
				if err != nil {
					t.Fatal(err)
				}
				r := b.complete(c, out)
				said := slices.ContainsFunc(r.Warnings, func(w string) bool {
					return strings.HasPrefix(w, want.left) && strings.Contains(w, "OCR_MAX_TOKENS")
				})
				if said != (want.left != "") || len(r.Warnings) > 1 || s.Requests() != want.requests || r.Reused != (n == 3) ||
					(len(r.UnreadPages) > 0) != (said && fallback == nil) {
					t.Errorf("%d: %+v after %d requests", n, r, s.Requests())
				}
			}
		})
	}
}

// A document of which nothing was read for a lack of tokens fails for good.
func TestNoTokensForAnyPage(t *testing.T) {
	t.Parallel()
	b := newBench(t, &fake{fail: func(context.Context, int, ocr.Image) error { return ocr.ErrTokens }})
	b.putPDF("a.pdf", numbered(t, 1)...)
	if got := b.fails(`{"filename":"a.pdf"}`, task.Hints{}, taskerr.QuotaExceeded); !strings.Contains(got, "OCR_MAX_TOKENS") {
		t.Error(got)
	}
}
