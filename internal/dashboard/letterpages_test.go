package dashboard_test

import (
	"context"
	"net/http"
	"regexp"
	"sync/atomic"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/api"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// short is a store whose pages of dead letters end after two of them, and that counts the lists with messages.
type short struct {
	store.Store
	whole atomic.Int64
}

func (s *short) DeadLetters(ctx context.Context, f store.DeadLetterFilter) ([]store.DeadLetter, error) {
	if !f.Brief {
		s.whole.Add(1)
	}
	found, err := s.Store.DeadLetters(ctx, f)
	if len(found) > 2 {
		found = found[:2]
		found[1].More = true
	}
	return found, err
}

// The list of dead letters goes on after a page that its size has ended. What shows no messages does not read them.
func TestLettersGoOn(t *testing.T) {
	t.Parallel()
	s := &short{}
	b := newBench(t, func(d *api.Deps) { s.Store, d.Store = d.Store, s })
	b.letters("one", "two", "three")
	v := b.visit("operate")
	a := v.want(v.get("dead-letters"), http.StatusOK, `class="mono">three<`, `class="mono">two<`)
	next := regexp.MustCompile(`dead-letters(\?[^"]*after=[^"]*)"`).FindStringSubmatch(a.text)
	if next == nil {
		t.Fatalf("no page follows: %s", plainOf(a.text))
	}
	a = v.want(v.get("dead-letters"+next[1]), http.StatusOK, `class="mono">one<`)
	if regexp.MustCompile(`after=`).MatchString(a.text) {
		t.Errorf("a page follows the last: %s", plainOf(a.text))
	}
	v.want(v.get("dead-letters/replay"), http.StatusOK, "Replay 3")
	if n := s.whole.Load(); n > 0 {
		t.Errorf("%d lists with the messages", n)
	}
}
