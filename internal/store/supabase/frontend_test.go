package supabase_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/store/storetest"
)

// TestFrontendSearches searches as supabase-js does, with the vector as a JSON array or as a text, and a tenant's key.
func TestFrontendSearches(t *testing.T) {
	t.Parallel()
	api := stacktest.PostgREST(t, stacktest.PostgresWith(t, schema.Options{Dimensions: storetest.Dimensions}))
	documents := storetest.NewDocuments(t, func(t testing.TB, client string) store.Store {
		return open(t, api.URL, api.TenantKey(t, client), client)
	})
	array := make([]float64, storetest.Dimensions)
	for i := range array {
		array[i] = 0.1
	}
	text := "[" + strings.Repeat("0.1, ", storetest.Dimensions-1) + "0.1]"
	for _, client := range documents.Clients {
		for name, vector := range map[string]any{"an array": array, "a text": text} {
			for fn, args := range map[string]map[string]any{
				"match_document_chunks": {"query_embedding": vector, "match_count": 10, "document_set": "contracts"},
				"hybrid_search": {
					"query_text": "harbour", "query_embedding": vector, "match_count": 10,
					"document_set": "contracts",
				},
			} {
				body, err := json.Marshal(args)
				if err != nil {
					t.Fatal(err)
				}
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, api.URL+"/rest/v1/rpc/"+fn,
					bytes.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				req.Header.Set("Content-Type", "application/json")
				req.Header.Set("Authorization", "Bearer "+api.TenantKey(t, client))
				resp, err := http.DefaultClient.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				var hits []hit
				err = json.NewDecoder(resp.Body).Decode(&hits)
				_ = resp.Body.Close()
				if err != nil || resp.StatusCode != http.StatusOK {
					t.Fatalf("%s with %s: %s, %v", fn, name, resp.Status, err)
				}
				if len(hits) != 1 || hits[0].Content != "the harbour of "+client || !hits[0].citable() {
					t.Errorf("%s with %s for %s: %+v", fn, name, client, hits)
				}
			}
		}
	}
}

// hit is a row that both functions return.
type hit struct {
	ID          string      `json:"id"`
	DocumentID  string      `json:"document_id"`
	DocumentSet string      `json:"document_set"`
	Filename    string      `json:"filename"`
	Version     int         `json:"version"`
	Content     string      `json:"content"`
	HeadingPath []string    `json:"heading_path"`
	Pages       []int       `json:"pages"`
	Boxes       []store.Box `json:"boxes"`
	Kind        string      `json:"kind"`
	Similarity  float64     `json:"similarity"`
	Score       float64     `json:"score"`
}

func (h hit) citable() bool {
	return h.ID != "" && h.DocumentID != "" && h.DocumentSet == "contracts" && h.Filename == "harbour.pdf" &&
		h.Version == 2 &&
		len(h.HeadingPath) == 2 && len(h.Pages) == 2 && len(h.Boxes) == 1 && h.Kind == "text" && h.Similarity != 0 &&
		(h.Score > 0 || h.Similarity < 0) // the passages' vectors depend on the names of the clients
}
