package task

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzMembers: members splits every object as encoding/json does, and calls nothing sound in which inspect finds
// something.
func FuzzMembers(f *testing.F) {
	for _, text := range []string{
		`{}`, ` {"a" : 1 , "b":[true,false,null,{}] } `[1:], `{"a":"x\"}","a":"y\\","b\u0041":-1.5e3}`, `{"":""}`,
		`{"a":"\u0000"}`, `{"a":1e400}`, `{"a":[[[1]],{"b":{"c":[]}}]}`, `{"a":"é","é":"\ud800"}`,
		`{"a":` + strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth) + `}`,
		`{"a":` + strings.Repeat("9", plainNumber+200) + `}`, `{"a":-0.` + strings.Repeat("0", maxNumber) + `1}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if text == "" || text[0] != '{' || !json.Valid([]byte(text)) || !utf8.ValidString(text) {
			return
		}
		var want map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		got, sound := members([]byte(text))
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got the members %s, want %s", got, want)
		}
		if found := inspect(text); sound && found != nil {
			t.Errorf("called sound, but %v", found)
		}
		for _, raw := range got {
			plain, ok := unescaped(raw)
			var s string
			if err := json.Unmarshal(raw, &s); ok && (err != nil || s != plain) {
				t.Errorf("read %s as %q, want %q, %v", raw, plain, s, err)
			}
		}
	})
}
