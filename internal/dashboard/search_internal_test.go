package dashboard

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// The words that were searched for are marked in whatever form the text has them, and are in what is shown of it.
func TestMarked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ query, text, want string }{
		{"quay cranes", "crane 1 & the Quay", "<mark>crane</mark> 1 &amp; the <mark>Quay</mark>"},
		{"park", "parked, parking, parliament, spark", "<mark>parked</mark>, <mark>parking</mark>, parliament, spark"},
		{"port", "portfolio por", "portfolio por"},
		{"the", "them then the", "them then <mark>the</mark>"},
		{"größe", "Größen", "<mark>Größen</mark>"},
		{"<b>", "<b>", "&lt;b&gt;"},
	} {
		if got := string((searchPage{terms: termsOf(c.query)}).Marked(c.text)); got != c.want {
			t.Errorf("%q in %q: %s, want %s", c.query, c.text, got, c.want)
		}
	}
	filler := strings.Repeat("Füllung ", 300)
	for name, text := range map[string]string{
		"at the end": filler + "a crane", "in the middle": filler + "a crane " + filler, "at the beginning": "a crane " + filler,
		"nowhere": filler, "after one long word": strings.Repeat("ü", 2000) + " crane",
	} {
		got := string((searchPage{terms: []string{"crane"}}).Marked(text))
		plain := strings.NewReplacer("<mark>", "", "</mark>", "").Replace(got)
		if name != "nowhere" && !strings.Contains(got, "<mark>crane</mark>") {
			t.Errorf("%s: the word is not shown: %.100s", name, got)
		}
		if n := utf8.RuneCountInString(plain); n > hitExcerpt+2 || !strings.Contains(text, strings.Trim(plain, "…")) {
			t.Errorf("%s: %d characters that are not a part of the text: %.100s", name, n, plain)
		}
	}
}

// The filter of a cause of failures finds those that it counts, whatever the cause lacks.
func TestFailedLike(t *testing.T) {
	t.Parallel()
	for _, c := range []store.FailureCause{
		{Type: "ingest", Class: "network_timeout", Code: "INGEST_NETWORK_TIMEOUT"},
		{Type: "ingest", Class: "network_timeout"},
		{Class: "an odd one", Code: "X"},
	} {
		f := parseFilter(failedLike(c), time.Now())
		if q := f.Query; q.Status != "failed" || q.Type != c.Type || q.Class != c.Class || q.Code != c.Code || q.Text != "" ||
			len(f.Problems) > 0 {
			t.Errorf("%+v: %+v", c, f)
		}
	}
}
