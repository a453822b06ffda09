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
		text, wrong string // wrong is a part of the error
		want        map[string]string
	}{
		{"", "", map[string]string{}},
		{"x-key=a%20b, Other = c ,,empty=", "", map[string]string{"X-Key": "a b", "Other": "c", "Empty": ""}},
		{"key=a=b%3D", "", map[string]string{"Key": "a=b="}},
		{"a=b,s3cret", "number 2 of its headers is not name=value", nil},
		{"=s3cret", "number 1 of its headers has a name", nil},
		{"my key=s3cret", "a name that no header can have", nil},
		{"key:=s3cret", "a name that no header can have", nil},
		{"key=s3cret%", "percent-encoded", nil},
		{"key=s3cret%0d%0aother: x", "control characters", nil},
		{"key=s3cret\x7f", "control characters", nil},
	} {
		got, err := headers.Parse(c.text)
		if c.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), c.wrong) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%q: %v, want %s", c.text, err, c.wrong)
			}
			continue
		}
		flat := map[string]string{}
		for name := range got {
			flat[name] = got.Get(name)
		}
		if err != nil || !maps.Equal(flat, c.want) {
			t.Errorf("%q: %v, %v", c.text, got, err)
		}
	}
}
