package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/stack"
)

// TestHTTPProxy: a dropped answer is one of a request that was carried out, a cut request never was.
func TestHTTPProxy(t *testing.T) {
	t.Parallel()
	var served atomic.Int32
	behind := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		served.Add(1)
		_, _ = io.Copy(w, r.Body)
	}))
	t.Cleanup(behind.Close)
	for _, tt := range []struct {
		what     mischief
		served   int32
		answered bool
	}{{passOn, 1, true}, {cutBefore, 0, false}, {dropAnswer, 1, false}, {delayed, 1, true}} {
		s := newScript()
		s.plan("echo", 1, tt.what)
		p, err := newHTTPProxy(behind.URL, s, func(*http.Request, []byte) string { return "echo" })
		if err != nil {
			t.Fatal(err)
		}
		before := served.Load()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.server.URL+"/a?b=c", strings.NewReader("hello"))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := p.server.Client().Do(req)
		if got := served.Load() - before; got != tt.served {
			t.Errorf("%q: served %d times, want %d", tt.what, got, tt.served)
		}
		if (err == nil) != tt.answered {
			t.Errorf("%q: the client got %v", tt.what, err)
		}
		if err == nil {
			if text, err := io.ReadAll(answer.Body); err != nil || string(text) != "hello" {
				t.Errorf("%q: the client got %q, %v", tt.what, text, err)
			}
			_ = answer.Body.Close()
		}
		p.close()
	}
}

// TestPGProxy: the same for a call of a function on a connection to Postgres, whether it is prepared or not.
func TestPGProxy(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	pg, err := stack.StartPostgres(ctx, stack.PostgresOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := pg.Stop(); err != nil {
			t.Error(err)
		}
	})
	direct, err := pgx.Connect(ctx, pg.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer direct.Close(ctx)
	if _, err := direct.Exec(ctx, `create table done (n int); create function aw_note(n int) returns int language sql as
		'insert into done values (n) returning n'`); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, mode := range []string{"cache_statement", "exec"} {
		for _, tt := range []struct {
			what     mischief
			done     bool
			answered bool
		}{{passOn, true, true}, {cutBefore, false, false}, {dropAnswer, true, false}, {delayed, true, true}} {
			n++
			s := newScript()
			s.plan("note", 2, tt.what) // the first call prepares the statement
			p, url, err := newPGProxy(pg.URL("postgres")+"&default_query_exec_mode="+mode, s)
			if err != nil {
				t.Fatal(err)
			}
			conn, err := pgx.Connect(ctx, url)
			if err != nil {
				t.Fatal(err)
			}
			var got int
			if err := conn.QueryRow(ctx, "select aw_note($1)", -n).Scan(&got); err != nil || got != -n {
				t.Errorf("%s: the first call: %d, %v", mode, got, err)
			}
			err = conn.QueryRow(ctx, "select aw_note($1)", n).Scan(&got)
			if (err == nil) != tt.answered {
				t.Errorf("%s, %q: the client got %v", mode, tt.what, err)
			}
			var done bool
			if err := direct.QueryRow(ctx, "select exists (select from done where n = $1)", n).Scan(&done); err != nil || done != tt.done {
				t.Errorf("%s, %q: done %v, %v; want %v", mode, tt.what, done, err, tt.done)
			}
			_ = conn.Close(ctx)
			p.close()
		}
	}
}
