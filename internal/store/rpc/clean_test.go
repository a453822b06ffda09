package rpc_test

import (
	"encoding/json"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store/rpc"
)

func TestClean(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"a":"plain"}`:            `{"a":"plain"}`,
		`"\u0000"`:                 `"\ufffd"`,
		`"\\u0000"`:                `"\\u0000"`,  // a backslash, then text
		`"\\\u0000"`:               `"\\\ufffd"`, // a backslash, then a NUL
		`"\ud83d\ude00"`:           `"\ud83d\ude00"`,
		`"\uD83D\uDE00"`:           `"\uD83D\uDE00"`,
		`"\ud83d"`:                 `"\ufffd"`,
		`"\ude00\ud83d"`:           `"\ufffd\ufffd"`,
		`"\ud83d\u0041"`:           `"\ufffd\u0041"`,
		`"\ud83d\ud83d\ude00"`:     `"\ufffd\ud83d\ude00"`,
		`"\ud83dx\ude00"`:          `"\ufffdx\ufffd"`,
		`{"\u0000k":["\n\u00e4"]}`: `{"\ufffdk":["\n\u00e4"]}`,
	} {
		if got := string(rpc.Clean([]byte(in))); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

// FuzzClean: valid JSON stays valid, cleaning twice changes nothing more, and what encoding/json reads stays
// the same but for NULs: it reads half a surrogate as U+FFFD too.
func FuzzClean(f *testing.F) {
	for _, seed := range []string{`"\u0000"`, `"\\u0000"`, `"\ud83d\ude00"`, `{"a":"\ud800\\"}`, `"\u00`, `\`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		out := rpc.Clean(in)
		if string(rpc.Clean(out)) != string(out) {
			t.Fatalf("%q cleaned is %q, and again %q", in, out, rpc.Clean(out))
		}
		if json.Valid(in) != json.Valid(out) {
			t.Fatalf("%q is valid: %v, cleaned %q: %v", in, json.Valid(in), out, json.Valid(out))
		}
		var before, after any
		if json.Unmarshal(in, &before) != nil {
			return
		}
		if err := json.Unmarshal(out, &after); err != nil {
			t.Fatal(err)
		}
		a, b := rendered(t, before), rendered(t, after)
		if string(rpc.Clean(a)) != string(b) {
			t.Fatalf("%q means %s, cleaned %s", in, a, b)
		}
	})
}

func rendered(t *testing.T, v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
