package rpc

import (
	"errors"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// NextUnexposed is what to do about PGRST106: the API does not expose the schema.
const NextUnexposed = store.NextUnexposed

// ReadOnly is the SQLSTATE of a database that takes no writes.
const ReadOnly = "25006"

// Remedy says what to do about a database that is up and can't run a call, by its SQLSTATE; empty: the state says
// nothing that an operator could mend.
func Remedy(state string) string {
	switch state {
	case ReadOnly:
		return "the database is read-only: connect to the primary (with several hosts in DATABASE_URL add " +
			"target_session_attrs=read-write); if its service made it read-only, such as for a full disk, mend that"
	case "42P05", "26000":
		return "DATABASE_URL leads to a transaction pooler, which keeps no prepared statements: add " +
			"default_query_exec_mode=exec to the URL, or use the session port"
	case "3D000":
		return "the server has no database of that name: check the name at the end of DATABASE_URL"
	case "53100":
		return "the disk of the database is full: give it more room"
	case "53200":
		return "the database is out of memory: give it more, or let fewer clients connect"
	case "53300":
		return "the database has no connection left: raise max_connections, end sessions, or let workers use a pooler " +
			"(docs/scaling.md)"
	case "57014":
		return "the database canceled a call that took too long: is it overloaded, or is the statement_timeout of the " +
			"login or the database short?"
	}
	return ""
}

// RemedyOf is the Remedy of the SQLError in err; empty: there is none.
func RemedyOf(err error) string {
	if raised, ok := errors.AsType[*SQLError](err); ok {
		return Remedy(raised.State)
	}
	return ""
}
