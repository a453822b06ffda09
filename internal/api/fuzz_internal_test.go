package api

import (
	"crypto/sha256"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/apitoken"
	"github.com/seed-7227ef26/async-worker/internal/feed"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/memory"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/queue"
	queuememory "github.com/seed-7227ef26/async-worker/queue/memory"
)

// FuzzRequests: whatever a token, cursor, ticket, key or id is, nothing breaks: no panic, no 5xx.
func FuzzRequests(f *testing.F) {
	events := feed.New(feed.Config{Store: memory.Reader{Store: memory.New()}})
	f.Cleanup(events.Close)
	service := queuememory.New(queuememory.Options{})
	a, err := New(Deps{
		ClientID: "a", Store: nobody{}, Feed: events, Log: slog.New(slog.DiscardHandler),
		Queue: func(p task.Priority) queue.Queue { return service.Queue(string(p)) },
		Check: func(task.Task) error { return store.ErrConflict },
		Auth: Auth{
			Tokens: []apitoken.Token{{Name: "x", Scope: apitoken.Operate, Hash: sha256.Sum256([]byte("aw_x"))}},
			JWT:    &JWTConfig{Issuer: "https://project.supabase.co/auth/v1", Secret: "a secret of tests, of at least 32 characters"},
		},
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Add("Bearer aw_x", "bnVsbA", `"k"`, "1")
	f.Add("Bearer a.b.c", "MS4xLjEuMS5q", "", "x")
	f.Add("Bearer eyJhbGciOiJub25lIn0.e30.", "eyJhdCI6MX0", `"\"`, "-1")
	f.Fuzz(func(t *testing.T, token, text, key, id string) {
		for _, path := range []string{
			"/v1/jobs?cursor=" + url.QueryEscape(text), "/v1/events?cursor=" + url.QueryEscape(text),
			"/v1/documents?cursor=" + url.QueryEscape(text), "/v1/jobs/" + url.PathEscape(id) + "/events?ticket=" + url.QueryEscape(text),
			"/v1/jobs?since=" + url.QueryEscape(text) + "&limit=" + url.QueryEscape(id), "/v1/summaries/" + url.PathEscape(id),
		} {
			for _, auth := range []string{token, "Bearer aw_x"} {
				r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
				if r.URL, err = url.Parse(path); err != nil {
					t.Skip("not a path")
				}
				r.Header.Set("Authorization", auth)
				r.Header.Set("Last-Event-ID", id)
				w := httptest.NewRecorder()
				a.ServeHTTP(w, r)
				if w.Code >= http.StatusInternalServerError || w.Code == http.StatusOK {
					t.Errorf("%s: %d %s", path, w.Code, w.Body)
				}
			}
		}
		if parsed, err := parseKey(key); err == nil && (len(parsed) > maxKey || key != "" && parsed == "") {
			t.Errorf("key %q becomes %q", key, parsed)
		}
	})
}
