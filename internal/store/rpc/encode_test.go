package rpc

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// Every call carries the tenant, whatever its arguments are (I10).
func TestEncode(t *testing.T) {
	t.Parallel()
	c := &client{id: `a"b`}
	for want, args := range map[string]any{
		`{"client_id":"a\"b"}`:                                struct{}{},
		`{"job_id":"j","client_id":"a\"b"}`:                   jobArg{"j"},
		`{"older_than_ms":1500,"limit":2,"client_id":"a\"b"}`: expiry{millis(1500 * time.Millisecond), 2},
		`{"client_id":"other","x":1,"client_id":"a\"b"}`:      map[string]any{"client_id": "other", "x": 1},
	} {
		if got, err := c.encode(args); err != nil || string(got) != want || !json.Valid(got) {
			t.Errorf("%T: %s, %v; want %s", args, got, err, want)
		}
	}
	if got, err := c.encode([]string{"x"}); err == nil || !strings.Contains(err.Error(), "not encoded as an object") {
		t.Errorf("a list: %s, %v", got, err)
	}
}

func TestMillis(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"1500": 1500 * time.Millisecond, "0": 0, "null": 0} {
		var got millis
		if err := json.Unmarshal([]byte(text), &got); err != nil || time.Duration(got) != want {
			t.Errorf("%s: %v, %v; want %v", text, time.Duration(got), err, want)
		}
	}
	var got millis
	if err := json.Unmarshal([]byte(`"1s"`), &got); err == nil {
		t.Errorf("a text: %v", time.Duration(got))
	}
}
