package llmtest_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
)

// The stand-in refuses what the service refuses, and bills nothing for it.
func TestRefusals(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t, llmtest.Options{Poison: "poison"})
	huge := `"` + strings.Repeat("word ", llmtest.MaxInputTokens+1) + `"`
	many := "[" + strings.Repeat(`"a",`, llmtest.MaxInputs) + `"a"]`
	large := `["` + strings.TrimSuffix(strings.Repeat(strings.Repeat("word ", 8000)+`","`,
		llmtest.MaxRequestTokens/8000+1), `,"`) + `]`
	for name, test := range map[string]struct {
		key, body string
		want      int
		says      string
	}{
		"one input": {
			llmtest.Key, `{"model":"text-embedding-3-small","input":"a","dimensions":4}`, 200,
			`"index":0`,
		},
		"wrong key":        {"other", `{"model":"m","input":"a"}`, 401, "invalid_api_key"},
		"no JSON":          {llmtest.Key, `{`, 400, ""},
		"no inputs":        {llmtest.Key, `{"model":"m","input":[]}`, 400, "input"},
		"an empty input":   {llmtest.Key, `{"model":"m","input":["a",""]}`, 400, "0 tokens"},
		"a long input":     {llmtest.Key, `{"model":"m","input":` + huge + `}`, 400, "tokens"},
		"too many inputs":  {llmtest.Key, `{"model":"m","input":` + many + `}`, 400, "2049 inputs"},
		"too many tokens":  {llmtest.Key, `{"model":"m","input":` + large + `}`, 400, "max 300000 tokens per request"},
		"a poisoned input": {llmtest.Key, `{"model":"m","input":["some poison"]}`, 400, "invalid"},
		"a length for ada": {
			llmtest.Key, `{"model":"text-embedding-ada-002","input":"a","dimensions":4}`, 400,
			`"param":"dimensions"`,
		},
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/embeddings",
			strings.NewReader(test.body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+test.key)
		response, err := s.Client().Do(request)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != test.want || !strings.Contains(string(answer), test.says) {
			t.Errorf("%s: HTTP %d %.200s", name, response.StatusCode, answer)
		}
	}
	if s.Inputs() != 1 || s.Tokens() != 1 || s.Requests() != 10 {
		t.Errorf("%d inputs, %d tokens, %d requests", s.Inputs(), s.Tokens(), s.Requests())
	}
}
