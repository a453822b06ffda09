package api

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/search"
)

// A search costs calls of models: eight are made at a time, others wait a moment for them; and each caller may search only
// so often, also with the tools of a mounted handler.
func TestSearchLimits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		let := make(chan struct{})
		a := &API{limits: newLimits(), searches: make(chan struct{}, maxSearches), deps: Deps{
			Search: func(context.Context, search.Store, search.Query) (search.Found, error) {
				<-let
				return search.Found{}, nil
			},
		}}
		ask := func(caller string) error {
			ctx := context.WithValue(t.Context(), principalKey{}, Principal{Subject: caller})
			_, err := a.findIn(ctx, nil, Question{Query: "tide"})
			return err
		}
		refused := func(err error, status int, code string) {
			t.Helper()
			if p, ok := errors.AsType[*Problem](err); !ok || p.Status != status || p.Code != code ||
				p.GetHeaders().Get("Retry-After") != "1" {
				t.Errorf("answered %v, want %d %s", err, status, code)
			}
		}
		var under sync.WaitGroup
		made := func() {
			if err := ask("greedy"); err != nil {
				t.Error(err)
			}
		}
		for range maxSearches {
			under.Go(made)
		}
		synctest.Wait()
		begin := time.Now()
		refused(ask("greedy"), http.StatusServiceUnavailable, "TOO_MANY_SEARCHES")
		if waited := time.Since(begin); waited != searchWait {
			t.Errorf("it waited %v for others to end", waited)
		}
		under.Go(made) // it has its place when another one ends
		synctest.Wait()
		let <- struct{}{}
		synctest.Wait()
		close(let)
		under.Wait()
		for range searchBurst {
			if err := ask("other"); err != nil {
				t.Fatal(err)
			}
		}
		refused(ask("other"), http.StatusTooManyRequests, "RATE_LIMITED")
		tool := func(caller string) error { // its calls have a context of their own
			_, err := a.Finder(context.WithValue(t.Context(), principalKey{}, Principal{Subject: caller}))(t.Context(), nil, search.Query{})
			return err
		}
		refused(tool("other"), http.StatusTooManyRequests, "RATE_LIMITED")
		if err := tool("greedy"); err != nil {
			t.Errorf("a tool of another caller: %v", err)
		}
		made()
		time.Sleep(time.Second / searchesPerSecond)
		if err := ask("other"); err != nil {
			t.Errorf("after its wait: %v", err)
		}
	})
}
