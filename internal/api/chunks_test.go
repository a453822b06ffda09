package api_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/api"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// The pages of a document's chunks are of one version: once it is replaced, its cursors say so. Those of an older worker,
// which are a position, are read as they were.
func TestChunksOfOneVersion(t *testing.T) {
	t.Parallel()
	var documents *replacing
	b := newBench(t, func(d *api.Deps) { documents = &replacing{Store: d.Store}; d.Store = documents })
	chunks := func(cursor string) reply {
		return b.ask("GET", "/v1/documents/"+noID+"/chunks?limit=200&cursor="+cursor, "")
	}
	first := b.want(chunks(""), http.StatusOK, "")
	old := base64.RawURLEncoding.EncodeToString([]byte("200"))
	for name, c := range map[string]struct {
		then   []store.Passage
		cursor string
		expire bool
	}{
		"stays":                      {passages(1, 200, 50), first.field("nextCursor"), false},
		"is replaced":                {passages(2, 200, 50), first.field("nextCursor"), true},
		"gets shorter":               {nil, first.field("nextCursor"), true},
		"is replaced, an old cursor": {passages(2, 200, 50), old, false},
		"ends, an old cursor":        {nil, old, false},
	} {
		documents.then.Store(&c.then)
		if c.expire {
			r := b.want(chunks(c.cursor), http.StatusGone, "CURSOR_EXPIRED")
			if !strings.Contains(r.text, "the document was replaced; begin again without the cursor") {
				t.Errorf("a document that %s: %s", name, r.text)
			}
			continue
		}
		r := b.want(chunks(c.cursor), http.StatusOK, "")
		var p api.Page[api.Chunk]
		if err := json.Unmarshal([]byte(r.text), &p); err != nil || len(p.Items) != len(c.then) || p.NextCursor != "" {
			t.Errorf("a document that %s: %s, %v", name, r.text, err)
		}
	}
	for _, cursor := range []string{`"x"`, `{"version":"1"}`, `[1]`, `1.5`, `null`} {
		r := chunks(base64.RawURLEncoding.EncodeToString([]byte(cursor)))
		b.want(r, http.StatusBadRequest, "VALIDATION_ERROR")
	}
}
