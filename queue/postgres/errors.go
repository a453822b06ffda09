package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/store/rpc"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
)

// Denied reports that the database refuses the key or login, or lets it not call a function.
type Denied struct {
	Doing string
	Cause *rpc.SQLError
}

func (e *Denied) Error() string {
	return fmt.Sprintf("%s: the database refuses it: %s (%s)", e.Doing, e.Cause.Message, e.Cause.State)
}

// Unwrap makes it a queue.ErrDenied, or queue.ErrLogin.
func (e *Denied) Unwrap() []error {
	if strings.HasPrefix(e.Cause.State, "28") {
		return []error{queue.ErrLogin, e.Cause}
	}
	return []error{queue.ErrDenied, e.Cause}
}

// Outcomes of a request.
const (
	fine      = "ok"
	refused   = "refused"
	uncertain = "uncertain"
)

func outcomeOf(err error) string {
	raised, ok := errors.AsType[*rpc.SQLError](err)
	switch {
	case err == nil:
		return fine
	case ok && !raised.Uncertain():
		return refused
	}
	return uncertain
}

// failing reports whether the database could not do a request, rather than refuse it.
func failing(err error) bool {
	raised, ok := errors.AsType[*rpc.SQLError](err)
	return err != nil && (!ok || raised.Uncertain() || strings.HasPrefix(raised.State, "53") ||
		strings.HasPrefix(raised.State, "25")) // no connection, no room; read-only
}

const hint = "is the database up? check DATABASE_URL or SUPABASE_URL"

// explain turns an error of a call into a sentinel or into an error with a remedy.
func (q *pgQueue) explain(ctx context.Context, doing string, err error) error {
	if err == nil {
		return nil
	}
	doing += fmt.Sprintf(" queue %q", q.name)
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", doing, context.Cause(ctx))
	}
	raised, ok := errors.AsType[*rpc.SQLError](err)
	if !ok {
		return &taskerr.Error{
			Class: taskerr.TransientStorage, Dependency: taskerr.Queues, Message: doing + ": the database did not answer",
			Cause: err, Hint: hint,
		}
	}
	has := func(prefixes ...string) bool {
		for _, p := range prefixes {
			if strings.HasPrefix(raised.State, p) {
				return true
			}
		}
		return false
	}
	switch {
	case has("AW018"):
		return fmt.Errorf("%s: %w", doing, queue.ErrNotFound)
	case has("AW019"):
		return fmt.Errorf("%s: %w", doing, queue.ErrTooLarge)
	case has("AW004", "28", "42501", "PGRST301", "PGRST302", "PGRST303", "401", "403"):
		return &Denied{doing, raised}
	case has("PGRST106"): // the message names the exposed schemas
		return fmt.Errorf("%s: %w: the API does not expose the schema of DB_SCHEMA: %s; %s", doing, queue.ErrSetting,
			raised.Message, rpc.NextUnexposed)
	case has("42883", "42P01", "3F000", "PGRST202", "404"):
		return fmt.Errorf("%s: %w: the database lacks the queues' functions (%s); %s", doing, queue.ErrSetting,
			raised.State, q.Missing)
	case has("AW006", "23514"): // of an argument
		return fmt.Errorf("%s: %w: %w", doing, queue.ErrSetting, raised)
	}
	return &taskerr.Error{
		Class: taskerr.TransientStorage, Dependency: taskerr.Queues,
		Message: doing + ": the database could not do it (" + raised.State + ")", Cause: err,
		Hint: cmp.Or(rpc.Remedy(raised.State), hint),
	}
}
