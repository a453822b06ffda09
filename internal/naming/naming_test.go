package naming_test

import (
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/naming"
)

func TestNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name            string
		account, schema bool
	}{
		{"acme", true, true},
		{"acme1", true, true},
		{"1acme", true, false},
		{"_worker", false, true},
		{"ab", false, true},
		{"Acme", false, false},
		{"acme-1", false, false},
		{"", false, false},
		{"acme\n", false, false},
		{`a"b`, false, false},
		{strings.Repeat("a", 24), true, true},
		{strings.Repeat("a", 25), false, true},
		{strings.Repeat("a", 63), false, true},
		{strings.Repeat("a", 64), false, false},
	} {
		if got := naming.StorageAccount(c.name); got != c.account {
			t.Errorf("StorageAccount(%q) is %v", c.name, got)
		}
		if got := naming.Schema(c.name); got != c.schema {
			t.Errorf("Schema(%q) is %v", c.name, got)
		}
	}
}
