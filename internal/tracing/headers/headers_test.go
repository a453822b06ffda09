package headers_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/tracing/headers"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, wrong string // wrong is a part of the error, or of why a header is left out
		want        map[string]string
	}{
		{"", "", map[string]string{}},
		{"x-key=a%20b, Other = c ,,empty=", "", map[string]string{"X-Key": "a b", "Other": "c", "Empty": ""}},
		{"key=a=b%3D", "", map[string]string{"Key": "a=b="}},
		{"a=b,s3cret", "number 2 of its headers is not name=value", nil},
		{"=s3cret", "number 1 of its headers has no name", nil},
		{"my key=s3cret", "a name that no header can have", nil},
		{"key:=s3cret", "a name that no header can have", nil},
		{"key=s3cret%", "percent-encoded", nil},
		{"key=s3cret%0d%0aother: x", "control characters", nil},
		{"key=s3cret\x7f", "control characters", nil},
	} {
		got, unusable, err := headers.Parse(c.text)
		said := strings.Join(unusable, " ")
		if err != nil {
			said = err.Error()
		}
		if c.wrong != "" {
			if !strings.Contains(said, c.wrong) || strings.Contains(said, "s3cret") || len(got) > 0 {
				t.Errorf("%q: %v, %q, want %s", c.text, got, said, c.wrong)
			}
			continue
		}
		flat := map[string]string{}
		for name := range got {
			flat[name] = got.Get(name)
		}
		if said != "" || !maps.Equal(flat, c.want) {
			t.Errorf("%q: %v, %v", c.text, got, err)
		}
	}
}
