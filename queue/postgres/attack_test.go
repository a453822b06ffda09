package postgres_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
	"github.com/seed-7227ef26/async-worker/queue"
)

// raised is the SQLSTATE of an error, "" of none.
func raised(err error) string {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// as returns a connection with the rights of a tenant's worker.
func as(t *testing.T, url, client string) *pgx.Conn {
	t.Helper()
	conn := connect(t, url)
	_, err := conn.Exec(t.Context(), "set role async_worker")
	must(t, err)
	_, err = conn.Exec(t.Context(), "select set_config('app.client_id', $1, false)", client)
	must(t, err)
	return conn
}

// open opens a tenant's queue and creates it.
func open(t *testing.T, url, client, name string) queue.Queue {
	t.Helper()
	s := direct(t, url, client)
	t.Cleanup(func() { must(t, s.Close()) })
	q := s.Queue(name)
	must(t, q.Ensure(t.Context()))
	return q
}

// foreign opens a queue with the name of another client's, which a version that took any name has created.
func foreign(t *testing.T, url, client, name string) queue.Queue {
	t.Helper()
	_, err := connect(t, url).Exec(t.Context(), "insert into aw_queues (client_id, name) values ($1, $2)", client, name)
	must(t, err)
	s := direct(t, url, client)
	t.Cleanup(func() { must(t, s.Close()) })
	return s.Queue(name)
}

// TestForgery: a tenant that knows the id and the receipt of another one's message can do nothing with them. A caller
// without the receipt can't either.
func TestForgery(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, small)
	victim := open(t, url, "acme", "acme-tasks")
	mallory := foreign(t, url, "mallory", "acme-tasks") // the same name, and another queue
	_, err := victim.Send(t.Context(), "secret", queue.SendOptions{})
	must(t, err)
	if got, err := mallory.Receive(t.Context(), 1, time.Minute); err != nil || len(got) != 0 {
		t.Fatalf("another tenant received %v, %v", got, err)
	}
	if n, err := mallory.Depth(t.Context()); err != nil || n != 0 {
		t.Errorf("another tenant counts %d, %v", n, err)
	}
	got, err := victim.Receive(t.Context(), 1, time.Minute)
	must(t, err)
	var receipt string
	must(t, connect(t, url).QueryRow(t.Context(), "select receipt::text from aw_queue_messages").Scan(&receipt))
	const forged = "00000000-0000-0000-0000-000000000000"
	for name, c := range map[string]struct{ as, client, receipt, want string }{
		"another tenant's key":         {"mallory", "acme", receipt, "AW004"},
		"another tenant's receipt":     {"mallory", "mallory", receipt, "false"},
		"a receipt that nobody has":    {"acme", "acme", forged, "false"},
		"a receipt that is not a uuid": {"acme", "acme", "' or true --", "22P02"},
	} {
		conn := as(t, url, c.as)
		for _, fn := range []string{"aw_queue_extend", "aw_queue_release", "aw_queue_delete"} {
			var held string
			err := conn.QueryRow(t.Context(), "select "+fn+`(jsonb_build_object('client_id', $1::text, 'queue', 'acme-tasks',
				'id', $2::text, 'receipt', $3::text, 'visibility_ms', 0, 'delay_ms', 0)) ->> 'held'`,
				c.client, got[0].ID, c.receipt).Scan(&held)
			if got := held + raised(err); got != c.want {
				t.Errorf("%s, %s: %q, want %q", name, fn, got, c.want)
			}
		}
	}
	must(t, got[0].Lease.Extend(t.Context(), time.Minute)) // nothing has changed
	must(t, got[0].Lease.Delete(t.Context()))
}

// TestLargeAndPoisonous: what is too large or not storable is refused or encoded, over PostgREST too, and what is no
// task is delivered as it is.
func TestLargeAndPoisonous(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, small)
	api := stacktest.PostgREST(t, url)
	service := overAPI(t, api, api.TenantKey(t, "acme"), "acme")
	defer service.Close()
	q := service.Queue("acme-tasks")
	must(t, q.Ensure(t.Context()))
	_, err := q.Send(t.Context(), strings.Repeat("x", 10<<20), queue.SendOptions{})
	if !errors.Is(err, queue.ErrTooLarge) {
		t.Errorf("10 MB: %v", err)
	}
	conn := as(t, url, "acme") // whoever does not ask our client
	large := `{"client_id": "acme", "queue": "acme-tasks", "text": "` + strings.Repeat("x", 10<<20) + `"}`
	if _, err := conn.Exec(t.Context(), "select aw_queue_send($1::jsonb)", large); raised(err) != "AW019" {
		t.Errorf("10 MB by SQL: %v", err)
	}
	task := `{"task_id": "a", "task_type": "ingest", "payload": {"x": "` + strings.Repeat("x", 10<<20) + `"}}`
	if _, err := conn.Exec(t.Context(), "select aw_enqueue($1::jsonb)", task); raised(err) != "AW006" {
		t.Errorf("a task of 10 MB: %v", err)
	}
	for name, text := range map[string]string{
		"deep": strings.Repeat("[", 60<<10), "cut": `{"task_id": "a`, "escapes": `{"a": "\u0000\ud800"}`,
		"SQL": `'); drop table jobs; --`, "a number": "1e999999",
	} {
		_, err := q.Send(t.Context(), text, queue.SendOptions{})
		must(t, err)
		got, err := q.Receive(t.Context(), 1, time.Minute)
		must(t, err)
		if len(got) != 1 || got[0].Text != text {
			t.Fatalf("%s: got %.80v", name, got)
		}
		must(t, got[0].Lease.Delete(t.Context()))
	}
	deep := `{"task_id": "a", "task_type": "ingest", "payload": {"x": ` + strings.Repeat("[", 1<<20) + `}}`
	if _, err := conn.Exec(t.Context(), "select aw_enqueue($1::jsonb)", deep); err == nil {
		t.Error("a task of a million brackets was taken")
	}
}

// TestTruncate: a partition that is almost empty is truncated although a long transaction keeps its dead rows alive.
// Its last messages move, with their receipts, those of other tenants too.
func TestTruncate(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, small)
	q := open(t, url, "acme", "acme-tasks")
	super, long := connect(t, url), connect(t, url)
	_, err := long.Exec(t.Context(), "begin isolation level repeatable read; select txid_current()")
	must(t, err)
	_, err = q.Send(t.Context(), "held", queue.SendOptions{})
	must(t, err)
	held, err := q.Receive(t.Context(), 1, time.Hour)
	must(t, err)
	// All that there is moves to the partition of a minute ago, and 5,000 messages pass through it.
	_, err = super.Exec(t.Context(), `alter table aw_queue_messages_0 set (autovacuum_enabled = off);
		alter table aw_queue_messages_1 set (autovacuum_enabled = off);
		alter table aw_queue_messages_2 set (autovacuum_enabled = off);
		update aw_queue_messages set part = aw_queue_part(now() - interval '1 minute');
		insert into aw_queue_messages (client_id, queue, part, visible_at, body)
		select c, c || '-tasks', aw_queue_part(now() - interval '1 minute'), now(), repeat('x', 400)
		from (select case n % 5000 when 0 then 'b' else 'acme' end as c from generate_series(1, 5000) n) x;
		delete from aw_queue_messages where client_id = 'acme' and receipt is null`)
	must(t, err)
	before := size(t, super)
	tidy := func() (n int) {
		must(t, as(t, url, "acme").QueryRow(t.Context(),
			`select (aw_queue_tidy('{"client_id": "acme"}') ->> 'truncated')::int`).Scan(&n))
		return n
	}
	writer := connect(t, url)
	_, err = writer.Exec(t.Context(), "begin; delete from aw_queue_messages where client_id = 'c'")
	must(t, err)
	if n := tidy(); n != 0 {
		t.Errorf("%d partitions were truncated while a transaction writes to them", n)
	}
	_, err = writer.Exec(t.Context(), "rollback")
	must(t, err)
	if n := tidy(); n != 1 || size(t, super) > before/10 {
		t.Errorf("%d partitions truncated, from %d to %d kB", n, before>>10, size(t, super)>>10)
	}
	var left string
	must(t, super.QueryRow(t.Context(),
		"select string_agg(client_id, ' ' order by client_id) from aw_queue_messages").Scan(&left))
	if left != "acme b" {
		t.Errorf("%q are left, want a message of each", left)
	}
	must(t, held[0].Lease.Extend(t.Context(), time.Hour))
	must(t, held[0].Lease.Delete(t.Context()))
}

// TestTruncateLittle: many large messages that wait for their time are not moved: no tenant could receive meanwhile.
func TestTruncateLittle(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, small)
	open(t, url, "acme", "acme-tasks")
	_, err := connect(t, url).Exec(t.Context(), `
		insert into aw_queue_messages (client_id, queue, part, visible_at, body)
		select 'acme', 'acme-tasks', aw_queue_part(now() - interval '1 minute'), now() + interval '1 year', x
		from (select string_agg(md5(n::text), '') as x from generate_series(1, 2000) n) y, generate_series(1, 150);
		insert into aw_queue_messages (client_id, queue, part, visible_at, body)
		select 'acme', 'acme-tasks', aw_queue_part(now() - interval '1 minute'), now(), repeat('x', 1900)
		from generate_series(1, 800);
		delete from aw_queue_messages where visible_at <= now()`)
	must(t, err)
	var n int
	must(t, as(t, url, "acme").QueryRow(t.Context(),
		`select (aw_queue_tidy('{"client_id": "acme"}') ->> 'truncated')::int`).Scan(&n))
	if n != 0 {
		t.Error("150 messages of 64 kB were moved")
	}
}

// TestNotifications: a message that arrives at an idle queue is announced, one that is delayed is not.
func TestNotifications(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, small)
	q := open(t, url, "acme", "acme-tasks")
	heard, done := make(chan struct{}, 9), make(chan struct{})
	ctx := t.Context()
	go func() {
		defer close(done)
		postgres.KeepListening(ctx, url, "aw_queue_acme", func() { heard <- struct{}{} }, func(err error) { t.Error(err) })
	}()
	t.Cleanup(func() { <-done })
	<-heard // connected
	_, err := q.Send(t.Context(), "later", queue.SendOptions{Delay: time.Hour})
	must(t, err)
	_, err = open(t, url, "other", "other-tasks").Send(t.Context(), "x", queue.SendOptions{})
	must(t, err)
	if len(heard) != 0 {
		t.Error("a delayed message, or another tenant's, was announced")
	}
	_, err = q.Send(t.Context(), "now", queue.SendOptions{})
	must(t, err)
	<-heard
}
