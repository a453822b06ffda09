package stack

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// PGlite is a running Postgres 18 in WASM with pgvector.
//
// It is one Postgres backend. Clients share it, one transaction at a time, with a fresh session after each change of
// client (dev/transactionqueue.mjs): SET, named prepared statements, LISTEN and session locks last only for a single client. COPY
// FROM STDIN crashes it; committed data survives that, and a kill.
type PGlite struct {
	*Process
	// URL is that of the superuser, without a password.
	URL string
}

// PGliteOptions configure a PGlite.
type PGliteOptions struct {
	Root string    // the project's folder; empty: found from the working directory
	Data string    // folder, created if missing, for one PGlite at a time; empty: memory
	Log  io.Writer // gets its output; may be nil
}

// StartPGlite starts a PGlite and waits until it answers a query, a few seconds for a new database.
func StartPGlite(ctx context.Context, o PGliteOptions) (*PGlite, error) {
	root := o.Root
	if root == "" {
		var err error
		if root, err = Root(); err != nil {
			return nil, err
		}
	}
	dev := filepath.Join(root, "dev")
	if _, err := os.Stat(filepath.Join(dev, "node_modules", "@electric-sql", "pglite")); err != nil {
		return nil, errNoNodeModules
	}
	if o.Data != "" {
		if err := os.MkdirAll(o.Data, 0o700); err != nil {
			return nil, fmt.Errorf("make the data folder of pglite: %w", err)
		}
	}
	var last error
	for range 3 { // another process may have taken the port between its choice and its use
		p, err := startPGlite(ctx, filepath.Join(dev, "pglite.mjs"), o)
		if err == nil || ctx.Err() != nil {
			return p, err
		}
		last = err
	}
	return nil, last
}

func startPGlite(ctx context.Context, script string, o PGliteOptions) (*PGlite, error) {
	port, err := FreePort()
	if err != nil {
		return nil, fmt.Errorf("find a port for pglite: %w", err)
	}
	args := []string{script, "--port", strconv.Itoa(port)}
	if o.Data != "" {
		args = append(args, "--data", o.Data)
	}
	url := fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", port)
	process, err := Start(ctx, Command{
		Name: "pglite", Path: "node", Args: args, Log: o.Log,
		Up: func(ctx context.Context) error { return ping(ctx, url) },
	})
	if err != nil {
		return nil, err
	}
	return &PGlite{Process: process, URL: url}, nil
}

// Stop closes the database, which checkpoints it, and ends the process.
func (p *PGlite) Stop() error { return p.Process.Stop(syscall.SIGTERM, 15*time.Second) }

// ping asks a real query of the database at url.
func ping(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	var one int
	err = conn.QueryRow(ctx, "select 1").Scan(&one)
	if closeErr := conn.Close(ctx); err == nil {
		err = closeErr
	}
	return err
}
