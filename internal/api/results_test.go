package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/api"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// made is a store with results of a version before.
type made struct{ store.Store }

func (made) AgentRunRow(context.Context, string) (store.AgentRunRow, error) {
	return store.AgentRunRow{
		Citations: json.RawMessage(`[{"document_id":"d","filename":"a_b.pdf","chunk_id":"c","page":null,"quote":"snake_case <b>"}]`),
		Steps: json.RawMessage(`[{"tools":[{"name":"search","arguments":"{\"chunk_id\":1}","bytes":7}],` +
			`"prompt_tokens":12345678901234567890,"completion_tokens":2}]`),
	}, nil
}

func (made) SummaryRow(context.Context, string) (store.SummaryRow, error) {
	return store.SummaryRow{
		KeyPoints: json.RawMessage(`[{"text":"t","pages":[1],"citations":[{"chunk_key":"k","pages":[1]}],` +
			`"unverified":[{"kind":"number","text":"7","in_document":true}]}]`),
		Unverified: json.RawMessage(`[{"kind":"number","text":"9","in_document":false,"inDocument":true}]`),
		LeftOut:    json.RawMessage(`null`),
	}, nil
}

func (made) LLMCheckRow(context.Context, string) (store.LLMCheckRow, error) {
	return store.LLMCheckRow{Findings: json.RawMessage(`[{"path":"/total_net","of_old":{"a_b":[{"c_d":1}]}}]`)}, nil
}

// Names in what is stored as JSON are in camelCase, at any depth, with the former ones beside them; values stay.
func TestResultsInCamelCase(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(d *api.Deps) { d.Store = made{d.Store} })
	for path, fields := range map[string]map[string]string{
		"agent-runs": {
			"citations": `[{"documentId":"d","document_id":"d","filename":"a_b.pdf","chunkId":"c","chunk_id":"c","page":null,` +
				`"quote":"snake_case <b>"}]`,
			"steps": `[{"tools":[{"name":"search","arguments":"{\"chunk_id\":1}","bytes":7}],"promptTokens":12345678901234567890,` +
				`"prompt_tokens":12345678901234567890,"completionTokens":2,"completion_tokens":2}]`,
		},
		"summaries": {
			"keyPoints": `[{"text":"t","pages":[1],"citations":[{"chunkKey":"k","chunk_key":"k","pages":[1]}],` +
				`"unverified":[{"kind":"number","text":"7","inDocument":true,"in_document":true}]}]`,
			"unverified": `[{"kind":"number","text":"9","in_document":false,"inDocument":true}]`, // both were stored
			"leftOut":    `[]`,
		},
		"llm-checks": {
			"findings": `[{"path":"/total_net","ofOld":{"aB":[{"cD":1,"c_d":1}],"a_b":[{"c_d":1}]},"of_old":{"a_b":[{"c_d":1}]}}]`,
		},
	} {
		r := b.want(b.ask("GET", "/v1/"+path+"/"+noID, ""), http.StatusOK, "")
		var got map[string]json.RawMessage
		if err := json.Unmarshal([]byte(r.text), &got); err != nil {
			t.Fatal(err)
		}
		for name, want := range fields {
			if !reflect.DeepEqual(exact(t, string(got[name])), exact(t, want)) {
				t.Errorf("%s of %s: %s, want %s", name, path, got[name], want)
			}
		}
	}
}

// exact is JSON with its numbers as they are written.
func exact(t *testing.T, text string) (v any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// The document of the API names the fields, and which of them are deprecated.
func TestResultsAreDescribed(t *testing.T) {
	t.Parallel()
	var spec struct {
		Components struct {
			Schemas map[string]struct {
				Additional any                                  `json:"additionalProperties"`
				Required   []string                             `json:"required"`
				Properties map[string]struct{ Deprecated bool } `json:"properties"`
			} `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(newBench(t).spec(), &spec); err != nil {
		t.Fatal(err)
	}
	for name, fields := range map[string][2]string{
		"Citation": {"documentId", "document_id"}, "Step": {"promptTokens", "prompt_tokens"},
		"Passage": {"chunkKey", "chunk_key"}, "Claim": {"inDocument", "in_document"},
	} {
		s := spec.Components.Schemas[name]
		now, is := s.Properties[fields[0]]
		former, was := s.Properties[fields[1]]
		if !is || !was || now.Deprecated || !former.Deprecated || s.Additional != true || s.Required != nil {
			t.Errorf("%s: %+v", name, s)
		}
	}
}
