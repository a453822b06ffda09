package rpc_test

import (
	"encoding/json"
	"strings"
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

// FuzzClean: valid JSON stays valid, a second Clean changes nothing, and encoding/json reads the same text except for
// NULs: it reads half a surrogate as U+FFFD, too.
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
		var before, after string
		if json.Unmarshal(in, &before) != nil {
			return
		}
		if err := json.Unmarshal(out, &after); err != nil {
			t.Fatal(err)
		}
		if strings.ReplaceAll(before, "\x00", "\ufffd") != after {
			t.Fatalf("%q means %q, cleaned %q", in, before, after)
		}
	})
}
