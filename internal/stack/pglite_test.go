package stack

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
	"golang.org/x/sync/errgroup"
)

func newPGlite(t *testing.T, data string) *PGlite {
	t.Helper()
	p, err := StartPGlite(t.Context(), PGliteOptions{Data: data})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	return conn
}

func one[T any](t *testing.T, conn *pgx.Conn, sql string, args ...any) T {
	t.Helper()
	var v T
	if err := conn.QueryRow(t.Context(), sql, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

func mustExec(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func TestPGliteKeepsClientsApart(t *testing.T) {
	t.Parallel()
	p := newPGlite(t, "")
	a := connect(t, p.URL)
	mustExec(t, a, "create table t (n int)")
	mustExec(t, a, "create role limited nologin")
	mustExec(t, a, "set role limited")

	b := connect(t, p.URL)
	if got := one[string](t, b, "select current_user::text"); got != "postgres" {
		t.Errorf("a second client runs as %q, the role that the first one set", got)
	}

	// While one is in a transaction, the other waits, and does not land in it.
	mustExec(t, b, "begin")
	mustExec(t, b, "insert into t values (1)")
	counted := make(chan error, 1)
	go func() {
		var n int
		err := a.QueryRow(t.Context(), "select count(*) from t", pgx.QueryExecModeExec).Scan(&n)
		if err == nil && n != 0 {
			err = fmt.Errorf("sees %d rows of another client's transaction", n)
		}
		counted <- err
	}()
	for n := range 20 {
		mustExec(t, b, fmt.Sprintf("insert into t values (%d)", n))
	}
	mustExec(t, b, "rollback")
	if err := <-counted; err != nil {
		t.Error(err)
	}
}

func TestPGliteServesClientsAtOnce(t *testing.T) {
	t.Parallel()
	p := newPGlite(t, "")
	mustExec(t, connect(t, p.URL), "create table n (client int, i int, primary key (client, i))")
	group, ctx := errgroup.WithContext(t.Context())
	const clients, rows = 6, 25
	for client := range clients {
		group.Go(func() error {
			conn, err := pgx.Connect(ctx, p.URL+"&default_query_exec_mode=exec")
			if err != nil {
				return err
			}
			defer conn.Close(ctx)
			for i := range rows {
				var got string
				err := conn.QueryRow(ctx, "insert into n values ($1, $2) returning client || '.' || i", client, i).
					Scan(&got)
				if err != nil {
					return fmt.Errorf("client %d, row %d: %w", client, i, err)
				}
				if want := fmt.Sprintf("%d.%d", client, i); got != want {
					return fmt.Errorf("client %d got %q, want %q", client, got, want)
				}
				if _, err := conn.Exec(ctx, "select 1/$1::int", 0); err == nil {
					return fmt.Errorf("client %d: division by zero went well", client)
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if n := one[int](t, connect(t, p.URL), "select count(*) from n"); n != clients*rows {
		t.Errorf("%d rows, want %d", n, clients*rows)
	}
}

func TestPGliteRollsBackForAClientThatVanishes(t *testing.T) {
	t.Parallel()
	p := newPGlite(t, "")
	mustExec(t, connect(t, p.URL), "create table t (n int)")
	const insert = "insert into t values (1)"
	for name, begin := range map[string]func(conn *pgx.Conn){
		"in a transaction": func(conn *pgx.Conn) {
			mustExec(t, conn, "begin")
			mustExec(t, conn, insert)
		},
		"in a failed transaction": func(conn *pgx.Conn) {
			mustExec(t, conn, "begin")
			mustExec(t, conn, insert)
			if _, err := conn.Exec(t.Context(), "select 1/0"); err == nil {
				t.Error("division by zero went well")
			}
		},
		"before its Sync": func(conn *pgx.Conn) {
			front := conn.PgConn().Frontend()
			front.Send(&pgproto3.Parse{Query: insert})
			front.Send(&pgproto3.Bind{})
			front.Send(&pgproto3.Execute{})
			front.Send(&pgproto3.Flush{})
			if err := front.Flush(); err != nil {
				t.Fatal(err)
			}
			for {
				message, err := front.Receive()
				if err != nil {
					t.Fatal(err)
				}
				if _, ok := message.(*pgproto3.CommandComplete); ok {
					return
				}
			}
		},
	} {
		conn := connect(t, p.URL)
		begin(conn)
		if err := conn.PgConn().Conn().Close(); err != nil { // no Terminate
			t.Fatal(err)
		}
		if n := one[int](t, connect(t, p.URL), "select count(*) from t"); n != 0 {
			t.Errorf("%s: %d rows of a transaction that was never committed", name, n)
		}
	}
}

func TestPGliteKeepsItsData(t *testing.T) {
	t.Parallel()
	data := t.TempDir() + "/pg"
	for i, stop := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL, syscall.SIGTERM} {
		p := newPGlite(t, data)
		conn := connect(t, p.URL)
		mustExec(t, conn, "create extension if not exists vector")
		mustExec(t, conn, "create table if not exists t (n int, v halfvec(3))")
		mustExec(t, conn, fmt.Sprintf("insert into t values (%d, '[1,2,3]')", i))
		if n := one[int](t, conn, "select count(*) from t"); n != i+1 {
			t.Fatalf("start %d: %d rows, want %d", i, n, i+1)
		}
		if err := p.Process.Stop(stop, 5*time.Minute); err != nil {
			t.Fatal(err)
		}
		if stop == syscall.SIGTERM && !strings.Contains(p.Tail(), "pglite: closed") {
			t.Errorf("start %d: it was not closed in good order:\n%s", i, p.Tail())
		}
	}
}
