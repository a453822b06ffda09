package openai

import (
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/httpurl/httpurltest"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
)

// The key and the texts stay with the configured service, and the error names its own setting.
func TestRedirect(t *testing.T) {
	t.Parallel()
	for setting, configure := range map[string]func(url string) Config{
		"OPENAI_BASE_URL": func(url string) Config { return Config{BaseURL: url + "/v1", APIKey: llmtest.Key} },
		"AZURE_OPENAI_ENDPOINT": func(url string) Config {
			return Config{Azure: &Azure{Endpoint: url, APIKey: llmtest.Key, APIVersion: "2024-10-21"}}
		},
	} {
		service := httpurltest.NewRedirect(t, setting)
		e, err := New(configure(service.URL))
		if err != nil {
			t.Fatal(err)
		}
		_, err = e.Embed(t.Context(), texts(1))
		service.Check(t, err)
	}
	service := httpurltest.NewRedirect(t, "CHAT_BASE_URL")
	c, err := NewChat(Config{
		BaseURL: service.URL + "/v1", APIKey: llmtest.Key, Model: "m", Names: Names{URL: "CHAT_BASE_URL"},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Ask(t.Context(), llm.Question{Text: "why?", MaxTokens: 1})
	service.Check(t, err)
}
