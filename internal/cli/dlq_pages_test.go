package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// paged has a number of dead letters, the newest first, whose messages end a page of them after the third.
type paged struct {
	rows
	all  int
	seen []store.DeadLetterFilter
}

func (p *paged) DeadLetters(_ context.Context, f store.DeadLetterFilter) (page []store.DeadLetter, _ error) {
	p.seen = append(p.seen, f)
	from := 0
	if f.After != nil {
		from, _ = strconv.Atoi(f.After.ID)
	}
	for i := from + 1; i <= p.all && len(page) < f.Limit; i++ {
		if !f.Brief && len(page) == 3 {
			page[2].More = true
			break
		}
		page = append(page, store.DeadLetter{ID: strconv.Itoa(i), CreatedAt: time.Unix(1e9, 0).UTC(), Original: "<x>\x1b"})
		if f.Brief {
			page[len(page)-1].Original = ""
		}
	}
	return page, nil
}

// A list of dead letters goes on after a page that the size of its messages has ended, and prints what one page would.
func TestLettersOfManyPages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ all, limit, want, pages int }{
		{0, 50, 0, 1}, {2, 50, 2, 1}, {3, 3, 3, 1}, {8, 50, 8, 3}, {8, 5, 5, 2}, {8, 6, 6, 2},
	} {
		s := &paged{all: c.all}
		got := invoke(t, app.Tenant{Store: s}, testEnv(), "", "dlq", "list", "-o", "json", "-n", strconv.Itoa(c.limit))
		got.want(t, exitOK)
		letters, _ := (&paged{all: c.all}).DeadLetters(t.Context(), store.DeadLetterFilter{Brief: true, Limit: c.want})
		for i := range letters {
			letters[i].Original = "<x>\x1b"
		}
		var whole bytes.Buffer
		if err := printJSON(&whole, orEmpty(letters)); err != nil || got.out != whole.String() || len(s.seen) != c.pages {
			t.Errorf("%+v: %d pages, %v\n%s\nwant\n%s", c, len(s.seen), err, got.out, whole.String())
		}
	}
}

// What does not show the messages does not read them.
func TestLettersWithoutMessages(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"list -n 1000", "purge --all --dry-run", "purge --all --dry-run -o json"} {
		s := &paged{all: 230}
		got := invoke(t, app.Tenant{Store: s}, testEnv(), "", append([]string{"dlq"}, strings.Fields(args)...)...)
		got.want(t, exitOK)
		if len(s.seen) != 3 || slices.ContainsFunc(s.seen, func(f store.DeadLetterFilter) bool { return !f.Brief }) {
			t.Errorf("%s: asked for %+v", args, s.seen)
		}
		var report purgeReport
		if strings.HasSuffix(args, "json") && (json.Unmarshal([]byte(got.out), &report) != nil || len(report.Purged) != 230 ||
			report.Purged[0] != "230") {
			t.Errorf("%s: %s", args, got.out)
		}
	}
}
