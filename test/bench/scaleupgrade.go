package main

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/test/quality/retrieval"
)

// The old database is what migrate --print of version 16 wrote, for 8 dimensions; terms came with version 38.
const (
	oldVersion    = "internal/store/schema/testdata/v16.sql.gz"
	oldDimensions = 8
	upkeepBatch   = 200 // chunks, as the upkeep does
	mayTake       = 30 * time.Minute
)

// upgrade is an old index that is migrated and filled in place, and others who use it meanwhile.
type upgrade struct {
	scaleOptions
	url  string
	text *scaleText
	read retrieval.Set

	mu                sync.Mutex
	lock              time.Duration // the longest wait for one
	searches, ingests []time.Duration
	unanswered        []string // questions that found nothing
}

// measureUpgrade prints how long an index from before BM25 takes to be filled in place, and what others notice of it.
func measureUpgrade(ctx context.Context, out io.Writer, o scaleOptions) (err error) {
	u := &upgrade{scaleOptions: o}
	u.dimensions = oldDimensions
	if u.read, err = retrieval.Load(o.set); err != nil {
		return fmt.Errorf("%w (SET=dir is a folder with passages.jsonl and questions.jsonl of a language with spaces)", err)
	}
	if u.text, err = newScaleText(u.read, o.seed, oldDimensions); err != nil {
		return err
	}
	pg, err := stack.StartPostgres(ctx, stack.PostgresOptions{Settings: indexServer})
	if err != nil {
		return err
	}
	defer stopping(&err, pg.Stop)
	for _, name := range []string{"old", "fresh"} {
		if err := pg.CreateDatabase(ctx, name, "template1"); err != nil {
			return err
		}
	}
	u.url = pg.URL("old")
	var documents []bulkDocument
	for i := range o.rows / scaleDocument {
		documents = append(documents, bulkDocument{set: others, filename: fmt.Sprintf("%d.pdf", i), chunks: u.text.document(scaleDocument)})
	}
	conn, err := u.old(ctx, documents)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	fmt.Fprintf(out, "A database of version 16 with %d chunks, which one tenant searches.\n", len(documents)*scaleDocument)
	added, err := u.beside(ctx, out, conn)
	if err != nil {
		return err
	}
	return u.compare(ctx, out, pg.URL("fresh"), conn, append(documents, added...))
}

// old makes the database of version 16, with documents.
func (u *upgrade) old(ctx context.Context, documents []bulkDocument) (conn *pgx.Conn, err error) {
	f, err := os.Open(oldVersion)
	if err != nil {
		return nil, fmt.Errorf("%w (run it in the root of the repository)", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	sql, err := io.ReadAll(z)
	if err != nil {
		return nil, err
	}
	if conn, err = pgx.Connect(ctx, u.url); err != nil {
		return nil, err
	}
	if _, err := conn.Exec(ctx, string(sql)); err != nil {
		return nil, err
	}
	l := scaleLoad{conn}
	for some := range slices.Chunk(documents, 50) {
		if err := l.copy(ctx, some); err != nil {
			return nil, err
		}
	}
	_, err = conn.Exec(ctx, "vacuum analyze")
	return conn, err
}

// beside migrates and fills, while a worker ingests and a tenant searches. It returns what was ingested.
func (u *upgrade) beside(ctx context.Context, out io.Writer, conn *pgx.Conn) (added []bulkDocument, err error) {
	ctx, cancel := context.WithTimeout(ctx, mayTake)
	defer cancel()
	within, stop := context.WithCancel(ctx)
	all, others := errgroup.WithContext(within)
	all.Go(func() error { return ended(within, u.watchLocks(others)) })
	all.Go(func() error { return ended(within, u.keepSearching(others)) })
	began := time.Now()
	if _, err := schema.Migrate(ctx, u.url, schema.Options{Dimensions: oldDimensions}); err != nil {
		stop()
		return nil, errors.Join(fmt.Errorf("migrate: %w", err), all.Wait())
	}
	fmt.Fprintf(out, "migrate: %.1f s; %s\n", time.Since(began).Seconds(), u.meanwhile())
	all.Go(func() (err error) {
		added, err = u.keepIngesting(others, within)
		return ended(within, err)
	})
	began = time.Now()
	steps, err := u.fill(ctx)
	took := time.Since(began)
	fmt.Fprintf(out, "the upkeep fills it: %.0f s in %d transactions; %s\n", took.Seconds(), steps, u.meanwhile())
	stop()
	if err := errors.Join(err, all.Wait()); err != nil {
		return nil, err
	}
	var left int
	if err := conn.QueryRow(ctx, "select count(*) from documents where active_version is not null and terms_version is distinct from active_version").
		Scan(&left); err != nil || left > 0 {
		return nil, errors.Join(err, fmt.Errorf("%d documents have no terms", left))
	}
	return added, nil
}

// ended is err, unless it is that of an intended end.
func ended(within context.Context, err error) error {
	select {
	case <-within.Done():
		return nil
	default:
		return err
	}
}

// meanwhile says what was noticed since it was last called. It starts again.
func (u *upgrade) meanwhile() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	s := fmt.Sprintf("meanwhile %d searches, p50 %.0f ms, p95 %.0f ms, longest %.0f ms", len(u.searches), quantile(u.searches, 0.5),
		quantile(u.searches, 0.95), quantile(u.searches, 1))
	if len(u.ingests) > 0 {
		s += fmt.Sprintf("; %d documents of 20 chunks ingested, p50 %.0f ms, longest %.0f ms", len(u.ingests), quantile(u.ingests, 0.5),
			quantile(u.ingests, 1))
	}
	s += fmt.Sprintf("; longest wait for a lock %.0f ms", float64(u.lock)/float64(time.Millisecond))
	u.searches, u.ingests, u.lock = nil, nil, 0
	return s
}

// watchLocks looks every few milliseconds how long anybody has been waiting for a lock.
func (u *upgrade) watchLocks(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, u.url)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for {
		var waited time.Duration
		if err := conn.QueryRow(ctx, "select coalesce(max(clock_timestamp() - waitstart), '0') from pg_locks where not granted").Scan(&waited); err != nil {
			return err
		}
		u.mu.Lock()
		u.lock = max(u.lock, waited)
		u.mu.Unlock()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// keepSearching asks one question after another, as a tenant.
func (u *upgrade) keepSearching(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, u.url)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, "select set_config('role', 'async_worker', false), set_config('app.client_id', $1, false)", client); err != nil {
		return err
	}
	for i := 0; ; i++ {
		q := u.read.Questions[i%len(u.read.Questions)]
		var hits int
		began := time.Now()
		if err := conn.QueryRow(ctx, "select count(*) from hybrid_search($1, null, 10)", q.Text).Scan(&hits); err != nil {
			return fmt.Errorf("search: %w", err)
		}
		u.mu.Lock()
		u.searches = append(u.searches, time.Since(began))
		if hits == 0 {
			u.unanswered = append(u.unanswered, q.Text)
		}
		u.mu.Unlock()
	}
}

// keepIngesting ingests one document after another until within ends: new ones, and other versions of old ones.
func (u *upgrade) keepIngesting(ctx, within context.Context) (all []bulkDocument, err error) {
	s, err := postgres.Open(ctx, u.url, postgres.Options{ClientID: client, MaxConns: 2, Dimensions: oldDimensions})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	text := u.text.share(1000)
	for i := 0; within.Err() == nil; i++ {
		d := bulkDocument{set: others, filename: fmt.Sprintf("new-%d.pdf", i), chunks: text.document(20)}
		if i%2 == 1 {
			d.filename = fmt.Sprintf("%d.pdf", i)
		}
		began := time.Now()
		if err := ingest(context.WithoutCancel(ctx), s, d); err != nil {
			return all, fmt.Errorf("ingest: %w", err)
		}
		u.mu.Lock()
		u.ingests = append(u.ingests, time.Since(began))
		u.mu.Unlock()
		all = append(all, d)
	}
	return all, nil
}

// fill does what the upkeep does, without its rests.
func (u *upgrade) fill(ctx context.Context) (steps int, err error) {
	s, err := postgres.Open(ctx, u.url, postgres.Options{ClientID: client, MaxConns: 1, Dimensions: oldDimensions})
	if err != nil {
		return 0, err
	}
	defer s.Close()
	for {
		answer, err := s.Collect(ctx, store.Collection{SupersededFor: 30 * 24 * time.Hour, AbandonedFor: 30 * 24 * time.Hour, Limit: upkeepBatch})
		if err != nil {
			return steps, err
		}
		if steps++; !answer.More {
			return steps, nil
		}
	}
}

// compare indexes the same documents again, in a new database, and compares everything that a search reads.
func (u *upgrade) compare(ctx context.Context, out io.Writer, url string, conn *pgx.Conn, documents []bulkDocument) error {
	newest := map[string]bulkDocument{}
	for _, d := range documents {
		newest[d.filename] = d
	}
	if _, err := schema.Migrate(ctx, url, schema.Options{Dimensions: oldDimensions}); err != nil {
		return err
	}
	fresh, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer fresh.Close(context.WithoutCancel(ctx))
	l := scaleLoad{fresh}
	for _, d := range newest {
		if err := l.copy(ctx, []bulkDocument{d}); err != nil {
			return err
		}
	}
	if err := l.fill(ctx); err != nil {
		return err
	}
	var prints [2]string
	for i, c := range []*pgx.Conn{conn, fresh} {
		if err := c.QueryRow(ctx, fingerprint).Scan(&prints[i]); err != nil {
			return err
		}
	}
	if prints[0] != prints[1] {
		return errors.New("what was filled in place differs from a new index of the same documents")
	}
	fmt.Fprintf(out, "The terms and counts of its %d documents are those of a new index.\n", len(newest))
	for _, question := range u.unanswered { // a word in the wrong spelling, among stop words
		var hits int
		if err := fresh.QueryRow(ctx, "select count(*) from hybrid_search($1, null, 10)", question).Scan(&hits); err != nil || hits > 0 {
			return errors.Join(err, fmt.Errorf("beside the upkeep the question %q found nothing, in the new index %d chunks", question, hits))
		}
	}
	fmt.Fprintf(out, "%d searches found nothing; nor do they in the new index.\n", len(u.unanswered))
	return nil
}
