package api

import (
	"context"
	"net/http"

	"github.com/seed-7227ef26/async-worker/internal/apitoken"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// mounted is a handler beside the calls.
type mounted struct {
	pattern string
	handler http.Handler
}

// Mount adds a handler beside the calls, for callers who have a scope. Call it before the first request.
func (a *API) Mount(pattern string, scope apitoken.Scope, h http.Handler) {
	a.mounted = append(a.mounted, mounted{pattern, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, refused := a.mayCall(r, scope)
		if refused != nil {
			refused.write(w)
			return
		}
		h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), principalKey{}, p)))
	})})
}

// Reader is the store with which the caller of a mounted handler reads.
func (a *API) Reader(ctx context.Context) store.Store { return a.reader(ctx) }
