package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

func (p *program) newMigrateCommand() *cobra.Command {
	var out format
	var o schema.Options
	toPrint := false
	cmd := &cobra.Command{
		Use: "migrate", Short: "Apply the database's schema, or print its SQL",
		Long: `migrate brings tables, policies and functions up to this program's version. It connects to DATABASE_URL
as the database's owner and may be repeated at any time. With --print it prints one SQL script that does the
same, for the Supabase SQL editor, and needs no connection.

It revokes from PUBLIC the right to create objects in the schema. PUBLIC has this right in the schema public up
to PostgreSQL 14 and in databases upgraded from there. --keep-create leaves it, for other programs that rely on
it.

With --realtime, Supabase Realtime broadcasts the events of jobs to holders of a key with the tenant's client_id
(docs/frontend.md). This stays on after a migrate without the flag.`,
		Example: `  DATABASE_URL=postgresql://postgres:…@db.PROJECT.supabase.co:5432/postgres async-worker migrate
  async-worker migrate --print --embedding-dimensions 1536 > schema.sql`,
		Args: noArgs,
		RunE: p.action(func(cmd *cobra.Command, _ []string) error {
			groups := config.Schema | config.Database
			if toPrint {
				groups = config.Schema
			}
			cfg, log, err := p.settings(cmd, groups)
			if err != nil {
				return err
			}
			o.Schema, o.Dimensions = cfg.DBSchema, cfg.EmbeddingDimensions
			if toPrint {
				return schema.Print(p.stdout, o)
			}
			o.ConnectWait, o.Log = p.patience, log
			report, err := schema.Migrate(cmd.Context(), cfg.DatabaseURL.Reveal(), o)
			if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == "42501" { // insufficient privilege
				return &failure{"migrate", "", &notOwnerError{err}}
			}
			if err != nil {
				return &failure{"migrate", nextMigrate(err), err}
			}
			if out == asJSON {
				return printJSON(p.stdout, report)
			}
			_, err = fmt.Fprintln(p.stdout, report)
			return err
		}),
	}
	cmd.Flags().BoolVar(&toPrint, "print", false, "print the SQL instead of applying it")
	cmd.Flags().BoolVar(&o.KeepCreate, "keep-create", false, "leave PUBLIC the right to create objects in the schema")
	cmd.Flags().BoolVar(&o.Realtime, "realtime", false, "broadcast the events of jobs with Supabase Realtime")
	addOutput(cmd, &out)
	addSettings(cmd, config.Schema)
	return cmd
}

// nextMigrate says what to do about a failed migration; empty: the error says it.
func nextMigrate(err error) string {
	sql, answered := errors.AsType[*pgconn.PgError](err)
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	_, unfit := errors.AsType[*schema.UnfitError](err)
	const direct = "check DATABASE_URL (on Supabase: the direct or session connection, port 5432); or " +
		"paste the output of async-worker migrate --print into the SQL editor"
	switch {
	case answered && slices.Contains([]string{"42P05", "26000"}, sql.Code): // a pooler can't keep the migration's lock
		return direct
	case answered && app.NextDatabaseState(sql.Code) != "":
		return app.NextDatabaseState(sql.Code)
	case unfit, answered && !connecting:
		return ""
	}
	return direct
}

// notOwnerError is a login that may not change the schema, as the worker's may not.
type notOwnerError struct{ err error }

func (e *notOwnerError) Error() string { return e.err.Error() }
func (e *notOwnerError) Unwrap() error { return e.err }

const nextOwner = "use the login of the database's owner in DATABASE_URL for this command, and not the worker's (on " +
	"Supabase: postgres); or paste the output of async-worker migrate --print into the SQL editor"
