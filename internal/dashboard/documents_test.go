package dashboard_test

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/api"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// A document says what each version changed, marks what is new, and says of each page how it was read and why.
func TestVersions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var id string
	for range 2 {
		id = b.ingest("harbour", "harbour-handbook.pdf", "Harbour handbook")
	}
	v := b.visit("read")
	a := v.want(v.get("documents/"+id), http.StatusOK, `<span class="plus">+1</span> added`, `<span class="minus">−1</span> removed, 3 kept`,
		`#c3">chunk 3</a>`, "1 page</dt><dd>from the file", "1 page</dt><dd>by OCR", "unreadable characters", "93 %")
	if n := strings.Count(a.text, ">new</span>"); n != 1 {
		t.Errorf("%d chunks are marked as new, want the one that is", n)
	}
	v.want(v.get("documents/"+id+"/pages/2"), http.StatusOK, "By OCR, 93 % sure: unreadable characters")
	v.want(v.get("documents/"+id+"/pages/1"), http.StatusOK, "From the file</span>")
	v.want(v.get(""), http.StatusOK, "<dt>Saved by reuse</dt><dd>3 chunks, 90 tokens", "<dt>Embedded</dt><dd>5 chunks, 150 tokens")
}

// downSets is a store whose database is down when it is asked for the sets of documents.
type downSets struct{ store.Store }

func (downSets) DocumentSets(context.Context, int) ([]store.DocumentSet, error) {
	return nil, taskerr.Errorf(taskerr.DependencyUnavailable, "the database is down")
}

// A search that fails says why where its hits would be: the page of an upload shows no other part of the answer.
func TestSearchFails(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, question, want string
		edit                 func(*api.Deps)
	}{
		{"a long question", strings.Repeat("x", 2001), "The question has 2001 bytes, and may have 2000", func(*api.Deps) {}},
		{"no database", "quay", "does not answer; try again", func(d *api.Deps) { d.Store = downSets{d.Store} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			v := newBench(t, c.edit).visit("read")
			a := v.want(v.get("search?q="+c.question), http.StatusOK, "The search did not work: ")
			if _, hits, _ := strings.Cut(a.text, `<div id="hits">`); !strings.Contains(hits, c.want) {
				t.Errorf("not among the hits: %q in %s", c.want, plainOf(a.text))
			}
		})
	}
}

// A hit has its place and score in each half of the search; what one half does not find among its best says so.
func TestLegs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.ingest("harbour", "harbour-handbook.pdf", "Harbour handbook")
	v := b.visit("read")
	a := v.want(v.get("search?q=quay+cranes+wind"), http.StatusOK, "meaning <b>1.</b> 1.00", "score ")
	first, _, _ := strings.Cut(a.text, "</article>")
	if !regexp.MustCompile(`words <b>1\.</b> [01]\.\d\d`).MatchString(first) || !strings.Contains(first, "parked and pinned") {
		t.Errorf("the best hit is not the first by words: %s", plainOf(first))
	}
	// No word of it is in the passages: it begins as one that is.
	a = v.want(v.get("search?q=cranesx"), http.StatusOK, `words <span aria-label="not among the best">–</span>`, "meaning <b>1.</b>")
	if n := strings.Count(a.text, "<article"); n == 0 {
		t.Error("nothing is near")
	}
}
