package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/stack"
)

// server reads what a Postgres server has done for a database.
type server struct {
	conn       *pgx.Conn
	postmaster int // its process id
}

// watch connects to a server that has pg_stat_statements among its shared_preload_libraries.
func watch(ctx context.Context, pg *stack.Postgres) (*server, error) {
	conn, err := pgx.Connect(ctx, pg.URL("postgres"))
	if err != nil {
		return nil, fmt.Errorf("connect to watch the server: %w", err)
	}
	s := &server{conn: conn}
	if _, err := conn.Exec(ctx, "create extension pg_stat_statements"); err != nil {
		return nil, fmt.Errorf("count statements: %w", err)
	}
	return s, s.find(ctx)
}

// watchCPU connects to any server: it can report CPU time only.
func watchCPU(ctx context.Context, pg *stack.Postgres) (*server, error) {
	conn, err := pgx.Connect(ctx, pg.URL("postgres"))
	if err != nil {
		return nil, fmt.Errorf("connect to watch the server: %w", err)
	}
	s := &server{conn: conn}
	return s, s.find(ctx)
}

// find finds the server's process.
func (s *server) find(ctx context.Context) error {
	var pid int
	if err := s.conn.QueryRow(ctx, "select pg_backend_pid()").Scan(&pid); err != nil {
		return fmt.Errorf("find the server's process: %w", err)
	}
	p, err := processOf(pid)
	s.postmaster = p.parent
	return err
}

func (s *server) close() { _ = s.conn.Close(context.Background()) }

// count turns the counting of statements on or off: it costs time.
func (s *server) count(ctx context.Context, on bool) error {
	track := "'none'"
	if on {
		track = "'all'" // those inside functions as well
	}
	if _, err := s.conn.Exec(ctx, "alter system set pg_stat_statements.track = "+track); err != nil {
		return err
	}
	_, err := s.conn.Exec(ctx, "select pg_reload_conf()")
	return err
}

// settings are those of the server that affect the cost of a commit.
func (s *server) settings(ctx context.Context) (string, error) {
	var text string
	err := s.conn.QueryRow(ctx, `select string_agg(name || '=' || setting, ' ' order by name) from pg_settings
		where name in ('fsync', 'synchronous_commit', 'full_page_writes')`).Scan(&text)
	return text, err
}

// counts are totals of a database since its creation.
type counts struct {
	sent, inner float64 // statements: of clients, and of functions
	commits     float64
}

func (c counts) minus(o counts) counts {
	return counts{c.sent - o.sent, c.inner - o.inner, c.commits - o.commits}
}

// alone waits until nobody is connected to the database: a session may report its commits as late as its end.
func (s *server) alone(ctx context.Context, database string) error {
	for sessions := 1; sessions > 0; time.Sleep(20 * time.Millisecond) {
		err := s.conn.QueryRow(ctx, `select count(*) from pg_stat_activity where datname = $1 and backend_type = 'client backend'`,
			database).Scan(&sessions)
		if err != nil {
			return fmt.Errorf("wait for the end of sessions: %w", err)
		}
	}
	return nil
}

// counts are the totals so far; a few commits may be missing, see alone.
func (s *server) counts(ctx context.Context, database string) (c counts, err error) {
	err = s.conn.QueryRow(ctx, `select coalesce(sum(calls) filter (where toplevel), 0), coalesce(sum(calls) filter (where not toplevel), 0),
			max(d.xact_commit)
		from pg_stat_database d left join pg_stat_statements t on t.dbid = d.datid where d.datname = $1`, database).
		Scan(&c.sent, &c.inner, &c.commits)
	if err != nil {
		return c, fmt.Errorf("read the counts of %s: %w", database, err)
	}
	return c, nil
}

// cpu is the CPU time of all processes of the server.
func (s *server) cpu() (time.Duration, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, err
	}
	var total time.Duration
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		p, err := processOf(pid)
		switch {
		case err != nil: // it has ended: its parent has its time
		case pid == s.postmaster:
			total += p.cpu + p.ended
		case p.parent == s.postmaster:
			total += p.cpu
		}
	}
	return total, nil
}

// process is one's entry in /proc.
type process struct {
	parent     int
	cpu, ended time.Duration // its own, and that of its children that have ended
}

func processOf(pid int) (p process, err error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return p, err
	}
	// After the name, which may contain anything: state, parent, …; times are in hundredths of a second.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) < 15 {
		return p, fmt.Errorf("/proc/%d/stat has %d fields", pid, len(fields))
	}
	numbers := make([]int, len(fields))
	for i, f := range fields[1:15] {
		if numbers[i+1], err = strconv.Atoi(f); err != nil {
			return p, fmt.Errorf("/proc/%d/stat: %w", pid, err)
		}
	}
	const tick = 10 * time.Millisecond
	p.parent = numbers[1]
	p.cpu = time.Duration(numbers[11]+numbers[12]) * tick
	p.ended = time.Duration(numbers[13]+numbers[14]) * tick
	return p, nil
}

// ensureDatabase creates a database unless it exists.
func ensureDatabase(ctx context.Context, pg *stack.Postgres, name string) error {
	conn, err := pgx.Connect(ctx, pg.URL("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	var there bool
	if err := conn.QueryRow(ctx, "select exists (select from pg_database where datname = $1)", name).
		Scan(&there); err != nil || there {
		return err
	}
	return pg.CreateDatabase(ctx, name, "template1")
}
