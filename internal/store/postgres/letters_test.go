package postgres_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/store/storetest"
)

// A worker of an older version, which names no number of bytes and takes a short page for the last, gets a list of dead
// letters whatever its size.
func TestLettersOfAnOlderWorker(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, schema.Options{Dimensions: storetest.Dimensions})
	s := open(t, url, "a")
	defer s.Close()
	for i := range 9 {
		if _, err := s.Reject(t.Context(), store.Rejection{
			Reason: "malformed", Original: strings.Repeat("tide", 75<<10), Source: store.Source{Queue: "q", MessageID: strconv.Itoa(i)},
			Error: store.ErrorInfo{Class: "validation_error", Message: "m", Code: "C", Type: "T"},
		}); err != nil {
			t.Fatal(err)
		}
	}
	conn := connect(t, url)
	for args, want := range map[string]string{
		`{"client_id":"a","limit":100}`:                     "9, 9 with a message, more: f",
		`{"client_id":"a","limit":100,"bytes":2097152}`:     "7, 7 with a message, more: t",
		`{"client_id":"a","limit":7,"bytes":2097152}`:       "7, 7 with a message, more: f",
		`{"client_id":"a","limit":100,"brief":true}`:        "9, 0 with a message, more: f",
		`{"client_id":"a","limit":100,"bytes":-1}`:          "1, 1 with a message, more: t",
		`{"client_id":"a","limit":100,"before":"2020-1-1"}`: "0, 0 with a message, more: f",
	} {
		var got string
		if err := conn.QueryRow(t.Context(), `select format('%s, %s with a message, more: %s', count(d), count(d ->> 'original_message'),
			coalesce(bool_or(d ? 'more'), false)) from jsonb_array_elements(aw_dead_letters($1::jsonb)) d`, args).Scan(&got); err != nil ||
			got != want {
			t.Errorf("%s: %s, %v; want %s", args, got, err, want)
		}
	}
}
