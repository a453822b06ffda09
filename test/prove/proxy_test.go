package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/stack"
)

// TestHTTPProxy: the request of a dropped answer was carried out, a cut request never was.
func TestHTTPProxy(t *testing.T) {
	t.Parallel()
	var served atomic.Int32
	behind := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		served.Add(1)
		_, _ = io.Copy(w, r.Body)
	}))
	t.Cleanup(behind.Close)
	for _, tt := range []struct {
		what     fault
		served   int32
		answered bool
	}{{passOn, 1, true}, {cutBefore, 0, false}, {dropAnswer, 1, false}, {delayed, 1, true}} {
		s := newFaultPlan()
		s.plan("echo", 1, tt.what)
		p, err := newHTTPProxy(behind.URL, s, func(*http.Request, []byte) string { return "echo" })
		if err != nil {
			t.Fatal(err)
		}
		before := served.Load()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.server.URL+"/a?b=c",
			strings.NewReader("hello"))
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

// TestPGProxy: the same for a call of a function on a connection to Postgres, prepared or not.
func TestPGProxy(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	pg, err := stack.StartPostgres(ctx, stack.PostgresOptions{Memory: true})
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
			what     fault
			done     bool
			answered bool
		}{{passOn, true, true}, {cutBefore, false, false}, {dropAnswer, true, false}, {delayed, true, true}} {
			n++
			s := newFaultPlan()
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
			if err := direct.QueryRow(ctx, "select exists (select from done where n = $1)", n).
				Scan(&done); err != nil || done != tt.done {
				t.Errorf("%s, %q: done %v, %v; want %v", mode, tt.what, done, err, tt.done)
			}
			_ = conn.Close(ctx)
			p.close()
		}
	}
}

// TestOutOfOrder: a service behind a faulty server or a proxy fails while it is cut, and works afterwards.
func TestOutOfOrder(t *testing.T) {
	t.Parallel()
	for _, how := range []failing{refuses, hangs, is503} {
		d := newFaultyServer(nil)
		d.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if d.pass(w, r) {
				_, _ = io.WriteString(w, "hello")
			}
		})
		get := func(patience time.Duration) int {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, d.server.URL, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := d.server.Client().Do(r)
			if err != nil {
				return 0
			}
			_ = answer.Body.Close()
			return answer.StatusCode
		}
		if got := get(5 * time.Minute); got != http.StatusOK {
			t.Errorf("%s: before the cut the answer is %d", how, got)
		}
		d.cut(how)
		if got := get(200 * time.Millisecond); got != 0 && (how != is503 || got != http.StatusServiceUnavailable) {
			t.Errorf("%s: the answer is %d", how, got)
		}
		if err := d.mend(); err != nil {
			t.Fatal(err)
		}
		if got := get(5 * time.Minute); got != http.StatusOK {
			t.Errorf("%s: after it the answer is %d", how, got)
		}
		d.close()
	}
}

// TestPGProxyOutOfOrder: the same for a database, and the begins that lost their answer are counted.
func TestPGProxyOutOfOrder(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	pg, err := stack.StartPostgres(ctx, stack.PostgresOptions{Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := pg.Stop(); err != nil {
			t.Error(err)
		}
	})
	for _, how := range []failing{refuses, hangs} {
		p, url, err := newPGProxy(pg.URL("postgres"), newFaultPlan())
		if err != nil {
			t.Fatal(err)
		}
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(ctx, "create or replace function aw_begin_all(p jsonb) returns void language sql as "+
			"'select pg_sleep((p ->> ''n'')::int)'"); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() {
			_, err := conn.Exec(ctx, "select aw_begin_all($1)", `{"n":60,"begins":[{"begin_id":"a"},{"begin_id":"b"}]}`)
			ended <- err
		}()
		underWay := func() bool {
			p.mu.Lock()
			defer p.mu.Unlock()
			for s := range p.sessions {
				if s.begins > 0 {
					return true
				}
			}
			return false
		}
		if err := await(ctx, 5*time.Minute, underWay, nil); err != nil {
			t.Fatal(err)
		}
		if n := p.cut(how); n != 2 {
			t.Errorf("%s: %d begins are cut off, want 2", how, n)
		}
		within, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
		if c, err := pgx.Connect(within, url); err == nil {
			_ = c.Close(ctx)
			t.Errorf("%s: a connection was made", how)
		}
		cancel()
		if err := p.mend(); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err == nil {
			t.Errorf("%s: the call that was under way got an answer", how)
		}
		again, err := pgx.Connect(ctx, url)
		if err != nil {
			t.Fatalf("%s: afterwards: %v", how, err)
		}
		_ = again.Close(ctx)
		p.close()
	}
}
