package openai

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	api "github.com/sashabaranov/go-openai"

	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
)

// What a service bills that can't be is estimated: a negative number would widen what a task may use, keep answers from
// being kept, and panic in the metrics.
func TestImplausibleUsage(t *testing.T) {
	t.Parallel()
	c, _ := openChat(t, llmtest.New(t, llmtest.Options{}), nil)
	for _, usage := range []api.Usage{
		{PromptTokens: 5, CompletionTokens: -1},
		{PromptTokens: -1, CompletionTokens: -1},
		{PromptTokens: 1 << 60, CompletionTokens: 1},
		{PromptTokens: 5, CompletionTokens: 1 << 60},
	} {
		a := asking{Chat: c, q: llm.Question{Text: "How deep is the harbour?"}}
		answer, err := a.onePiece(api.ChatCompletionResponse{Usage: usage, Choices: []api.ChatCompletionChoice{{
			Message: api.ChatCompletionMessage{Content: "Twelve metres."}, FinishReason: api.FinishReasonStop,
		}}})
		if err != nil || answer.PromptTokens < 1 || answer.PromptTokens > 100 || answer.CompletionTokens < 1 ||
			answer.CompletionTokens > 100 {
			t.Errorf("%+v: %+v, %v", usage, answer, err)
		}
	}
	for _, billed := range []int{-1, 1 << 60} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"object":"list","data":[{"index":0,"embedding":[1,0]}],"usage":{"prompt_tokens":%d,"total_tokens":%[1]d}}`,
				billed)
		}))
		t.Cleanup(s.Close)
		e, err := New(Config{BaseURL: s.URL, APIKey: llmtest.Key, Dimensions: 2, Model: "bge-small", HTTPClient: s.Client()})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := e.Embed(t.Context(), []string{"How deep?"}); err != nil || got.Tokens < 1 || got.Tokens > 100 {
			t.Errorf("billed %d: %d tokens, %v", billed, got.Tokens, err)
		}
	}
}
