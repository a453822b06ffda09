// Package schema holds the database's schema and applies it: numbered migrations for tables, guards and
// policies (migrations/), and the functions that the worker calls (functions/), which are replaced as a
// whole by every migrate. A change of a table is a new numbered file; a change of a function is an edit.
package schema

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/tern/v2/migrate"

	"github.com/seed-7227ef26/async-worker/internal/naming"
)

//go:embed migrations/*.sql functions/*.sql
var files embed.FS

// Defaults and limits of Options.
const (
	DefaultSchema     = "public"
	DefaultDimensions = 1536
	MaxDimensions     = 4000 // of an indexed halfvec
)

// Options say where and how wide.
type Options struct {
	Schema     string // DB_SCHEMA; empty: DefaultSchema
	Dimensions int    // EMBEDDING_DIMENSIONS, 1-4000; zero: DefaultDimensions
	KeepCreate bool   // PUBLIC keeps the right to create in the schema, which others rely on
	Realtime   bool   // events are broadcast by Supabase Realtime; false: as before

	LockWait    time.Duration // for another migration; zero: DefaultLockWait
	TableWait   time.Duration // for others who use the tables, in all; zero: DefaultTableWait
	ConnectWait time.Duration // for the server's first answer; zero: DefaultConnectWait

	Log *slog.Logger // gets a warning when a migration waits: for the server, another migration, or users of a table; may be nil
}

// Report is what a migration did.
type Report struct {
	Schema     string
	From, To   int      // versions; equal when no migration was due
	Applied    []string // file names of the migrations applied now
	Dimensions int      // of the vectors
}

func (r Report) String() string {
	if len(r.Applied) == 0 {
		return fmt.Sprintf("schema %s is at version %d; functions renewed", r.Schema, r.To)
	}
	if r.From == 0 {
		return fmt.Sprintf("schema %s: created at version %d; functions renewed", r.Schema, r.To)
	}
	return fmt.Sprintf("schema %s: version %d to %d (%s); functions renewed", r.Schema, r.From, r.To,
		strings.Join(r.Applied, ", "))
}

// check fills in defaults and refuses what can't be.
func (o Options) check() (Options, error) {
	if o.Schema == "" {
		o.Schema = DefaultSchema
	}
	if o.Dimensions == 0 {
		o.Dimensions = DefaultDimensions
	}
	if !naming.Schema(o.Schema) {
		return o, fmt.Errorf("schema name %q: use lower-case letters, digits and underscores", o.Schema)
	}
	if o.Dimensions < 1 || o.Dimensions > MaxDimensions {
		return o, fmt.Errorf("%d embedding dimensions: 1 to %d can be indexed", o.Dimensions, MaxDimensions)
	}
	return o, nil
}

// path is every function's pinned search_path. No schema in which a tenant may create things is on it: see
// functions/05_session.sql.
const path = "pg_catalog, pg_temp"

// The functions that somebody else than their owner may call, beside those that run as their owner.
var (
	// open are what anybody of a tenant calls as himself.
	open = []string{
		"aw_bound", "aw_caller", "aw_unbound", "match_document_chunks", "hybrid_search", "aw_processing_jobs",
	}
	// reads run as their owner, and are the reader's too.
	reads = []string{
		"aw_find_own", "aw_search", "aw_rarity", "aw_documents", "aw_outlines", "aw_passages", "aw_document_passages", "aw_job",
		"aw_jobs", "aw_events", "aw_feed", "aw_result", "aw_stats", "aw_outcomes", "aw_overview", "aw_find_jobs",
		"aw_job_counts", "aw_document_sets", "aw_document_versions",
		"aw_own_jobs", "aw_own_job_events", "aw_own_documents", "aw_own_summaries", "aw_own_agent_runs",
		"aw_own_derived_contents", "aw_own_llm_checks", "aw_own_processing_jobs",
		"aw_own_dead_letters", "aw_own_webhook_deliveries", "aw_own_decks", "aw_own_schedules",
	}
	// searched are what aw_matching_own, aw_ranked_own, aw_marks_own and aw_rarity_own call, which have an owner of their own.
	searched = []string{
		"aw_client", "aw_bound", "aw_asked", "aw_caller", "aw_unbound", "aw_matching", "aw_ranked", "aw_weighted_terms",
		"aw_marks", "aw_rarity_of", "aw_fits", "aw_within", "aw_leaves_out", "aw_enough", "aw_need", "aw_first",
		"aw_shows", "aw_any_of", "aw_dotless", "aw_singles", "aw_beside", "aw_in_terms", "aw_one_form", "aw_letters",
		"aw_frequency", "aw_plain", "aw_pairs", "aw_terms", "aw_terms_of", "aw_text_config", "aw_word",
	}
)

// array is names as an array of SQL's; they are ours, and have no quotes.
func array(names []string) string { return "array['" + strings.Join(names, "', '") + "']" }

// unspaced are the scripts that don't separate words by spaces, in a bracket expression of SQL: Thai and Lao, Burmese, Khmer,
// Kana, Han, Hangul.
const unspaced = `\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff`

// data is what the templates see. vector is the schema of pgvector, quoted; migrations, which make it, don't know it.
func (o Options) data(vector string) map[string]any {
	return map[string]any{
		"schema": o.Schema, "dimensions": o.Dimensions, "path": path, "vector": vector, "keep": o.KeepCreate,
		"realtime": o.Realtime,
		"names":    array(Functions()), "open": array(open), "reads": array(slices.Concat(open, reads)),
		"searched": array(searched), "unspaced": unspaced,
	}
}

func (o Options) versionTable() string { return o.Schema + ".aw_schema_version" }

// Version is the schema that this program needs: the number of its last migration.
func Version() int {
	names, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return 0 // only a malformed pattern does that
	}
	return len(names)
}

// Functions are the names of the functions that a schema of this Version has, sorted.
func Functions() []string {
	var found []string
	names, _ := fs.Glob(files, "functions/*.sql") // the pattern is well-formed
	for _, name := range names {
		sql, _ := files.ReadFile(name) // it was found just now
		for line := range strings.Lines(string(sql)) {
			if rest, ok := strings.CutPrefix(line, "create or replace function {{ .schema }}."); ok {
				function, _, _ := strings.Cut(rest, "(")
				found = append(found, function)
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// Migrate brings the database at url up to Version and renews the functions. It is idempotent, and safe to
// run at the same time from several places. The login must be allowed to create tables and roles in the
// database (on Supabase: the user postgres on the direct or session port, 5432).
func Migrate(ctx context.Context, url string, o Options) (Report, error) {
	o, err := o.check()
	if err != nil {
		return Report{}, err
	}
	conn, err := connect(ctx, url, o)
	if err != nil {
		return Report{}, fmt.Errorf("connect to migrate: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if err := lock(ctx, conn, o); err != nil {
		return Report{}, err
	}
	// Closing the connection gives the lock back. It holds in this database; roles are the whole cluster's,
	// and a migration of another database may be at them at this moment. What failed was rolled back.
	r := Report{Schema: o.Schema, From: -1}
	var waited time.Duration
	for attempt := 1; ; attempt++ {
		err := migrateLocked(ctx, conn, o, &r)
		switch {
		case inUse(err):
			attempt = 0 // it is no failure, and has its own limit
			if waited, err = waitForTables(ctx, conn, o, waited, err); err != nil {
				return r, err
			}
		case err == nil || attempt == 10 || !transient(err):
			return r, err
		}
	}
}

func migrateLocked(ctx context.Context, conn *pgx.Conn, o Options, r *Report) error {
	if err := ensureSchema(ctx, conn, o.Schema); err != nil {
		return err
	}
	m, err := migrate.NewMigrator(ctx, conn, o.versionTable())
	if err != nil {
		return fmt.Errorf("prepare the version table: %w", err)
	}
	m.Data = o.data("")
	if err := m.LoadMigrations(sub("migrations")); err != nil {
		return fmt.Errorf("load migrations: %w", err)
	}
	from, err := m.GetCurrentVersion(ctx)
	if err != nil {
		return fmt.Errorf("read the schema's version: %w", err)
	}
	if r.From < 0 { // of the first attempt
		r.From = int(from)
	}
	r.To = int(from)
	if r.To > len(m.Migrations) {
		return &UnfitError{fmt.Sprintf("schema %s is at version %d, newer than this program's %d: use the newer program",
			o.Schema, r.To, len(m.Migrations))}
	}
	for _, step := range m.Migrations {
		step.UpSQL = limitLocks + step.UpSQL // tern resets what a session has set
	}
	if err := m.Migrate(ctx); err != nil {
		return fmt.Errorf("migrate: %w", explain(err))
	}
	r.To, r.Applied = len(m.Migrations), nil
	for _, step := range m.Migrations[r.From:] {
		r.Applied = append(r.Applied, step.Name)
	}
	if err := replaceFunctions(ctx, conn, o); err != nil {
		return err
	}
	r.Dimensions, err = dimensions(ctx, conn, o)
	return err
}

// ensureSchema looks before it creates: create schema needs a right on the whole database, even when the
// schema is there.
func ensureSchema(ctx context.Context, conn *pgx.Conn, name string) error {
	var there bool
	if err := conn.QueryRow(ctx, "select exists (select from pg_namespace where nspname = $1)", name).
		Scan(&there); err != nil {
		return fmt.Errorf("look for schema %s: %w", name, err)
	}
	if there {
		return nil
	}
	if _, err := conn.Exec(ctx, "create schema "+pgx.Identifier{name}.Sanitize()); err != nil {
		return fmt.Errorf("create schema %s: %w", name, err)
	}
	return nil
}

func replaceFunctions(ctx context.Context, conn *pgx.Conn, o Options) error {
	var vector string
	if err := conn.QueryRow(ctx, vectorSchema).Scan(&vector); err != nil {
		return fmt.Errorf("look for pgvector's schema: %w", err)
	}
	scripts, err := functions(o, vector)
	if err != nil {
		return err
	}
	path, last := scripts[0], len(scripts)-1
	// The last one drops what calls by the old bodies use.
	for _, together := range [][]script{scripts[:last], {path, scripts[last]}} {
		err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			for _, s := range together {
				if _, err := tx.Exec(ctx, s.sql); err != nil {
					return fmt.Errorf("%s: %w", s.name, explain(err))
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func dimensions(ctx context.Context, conn *pgx.Conn, o Options) (int, error) {
	var n int
	err := conn.QueryRow(ctx, `select atttypmod from pg_attribute
		where attrelid = to_regclass($1) and attname = 'embedding'`, o.Schema+".document_chunks").Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("read the width of the embeddings: %w", err)
	}
	if n != o.Dimensions {
		return n, &UnfitError{fmt.Sprintf("the embeddings in schema %s have %d dimensions, EMBEDDING_DIMENSIONS asks for %d: "+
			"set it to %d, or use another DB_SCHEMA and ingest again", o.Schema, n, o.Dimensions, n)}
	}
	return n, nil
}

// UnfitError is a schema that is not what the program or its settings ask for, and that no migration changes.
type UnfitError struct{ problem string }

func (e *UnfitError) Error() string { return e.problem }

// explain adds a remedy to the errors that one meets in practice.
func explain(err error) error {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	switch {
	case !ok:
		return err
	case pg.Code == "0A000" && strings.Contains(pg.Message, "vector"), pg.Code == "58P01":
		return fmt.Errorf("%w; install pgvector 0.7 or newer on the database's server", err)
	case pg.Code == "42501":
		return fmt.Errorf("%w; migrate as the owner of the database", err)
	case pg.Code == "42704" && strings.HasPrefix(pg.Message, "role "): // the tables are there, and their migrations done
		return fmt.Errorf("%w; restore it after its roles: docs/database.md says how", err)
	case pg.Hint != "":
		return fmt.Errorf("%w (%s)", err, pg.Hint)
	}
	return err
}
