package api_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/api"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Dead letters with large messages come in pages that fit into memory; the cursors lead through all of them.
func TestLargeDeadLetters(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var want, got []string
	for i := range 20 {
		s, err := b.store.Reject(t.Context(), store.Rejection{
			Reason: "malformed", Original: strings.Repeat("tide", 75<<10), Source: store.Source{Queue: "q", MessageID: strconv.Itoa(i)},
			Error: store.ErrorInfo{Class: "validation_error", Message: "m", Code: "C", Type: "T"},
		})
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, s.DeadLetter.ID)
	}
	slices.Reverse(want)
	for cursor, n := "", 1; n == 1 || cursor != ""; n++ {
		r := b.want(b.ask("GET", "/v1/dead-letters?limit=200&cursor="+url.QueryEscape(cursor), ""), http.StatusOK, "")
		var p api.Page[api.DeadLetter]
		if err := json.Unmarshal([]byte(r.text), &p); err != nil || len(p.Items) == 0 || len(r.text) > 5<<19 {
			t.Fatalf("page %d: %d letters in %d bytes, %v", n, len(p.Items), len(r.text), err)
		}
		for _, d := range p.Items {
			got = append(got, d.ID)
		}
		cursor = p.NextCursor
	}
	if !slices.Equal(got, want) {
		t.Errorf("the pages have %v, want %v", got, want)
	}
	var would api.BulkReplayed
	r := b.want(b.ask("POST", "/v1/dead-letters/replay", `{"limit":19,"dryRun":true}`), http.StatusAccepted, "")
	if err := json.Unmarshal([]byte(r.text), &would); err != nil || would.Matched != 19 {
		t.Errorf("%s, %v", r.text, err)
	}
	r = b.want(b.ask("POST", "/v1/dead-letters/replay", `{"limit":200}`), http.StatusAccepted, "")
	if err := json.Unmarshal([]byte(r.text), &would); err != nil || would.Matched != 20 || len(would.NotReplayed) != 20 {
		t.Errorf("%d matched, %d not replayed, %v", would.Matched, len(would.NotReplayed), err)
	}
}
