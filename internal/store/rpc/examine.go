package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/pattern"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

// Examine implements store.Examiner.
func (c *client) Examine(ctx context.Context) (store.Examination, error) {
	var raised error
	noting := func(ctx context.Context, fn string, p json.RawMessage) (answer json.RawMessage, err error) {
		answer, raised = c.caller.Call(ctx, fn, p)
		return answer, raised
	}
	e, err := callBy[store.Examination](ctx, c, noting, "aw_examine", struct {
		Functions []string `json:"functions"`
	}{schema.Functions()})
	e.Wanted = schema.Version()
	for i, f := range e.Findings {
		if _, state, ok := strings.Cut(f.Problem, "("); ok && f.About == store.AboutWrite && f.Mend == "" {
			e.Findings[i].Mend = Remedy(strings.TrimSuffix(state, ")"))
		}
	}
	if finding, ok := c.lacking(raised); ok {
		return e, &store.FindingError{Finding: finding, Cause: err}
	}
	return e, err
}

// denied matches Postgres' message when it refuses the call itself.
var denied = pattern.New(`^permission denied (?:for (schema|function) (\S+)|to set role "([^"]+)")$`)

// Grantee is implemented by a Caller that knows whom a grant is for.
type Grantee interface {
	// Grantee returns the schema of the functions and the role that calls them, quoted.
	Grantee() (schema, role string)
}

// lacking returns the right whose lack kept Examine from checking anything else.
func (c *client) lacking(err error) (store.Finding, bool) {
	raised, ok := errors.AsType[*SQLError](err)
	if !ok {
		return store.Finding{}, false
	}
	m := denied.FindStringSubmatch(raised.Message)
	if m == nil {
		return store.Finding{}, false
	}
	in, role := schema.DefaultSchema, "async_worker"
	if g, ok := c.caller.(Grantee); ok {
		in, role = g.Grantee()
	}
	return missing(m, in, role), true
}

// missing is the right that a denial names.
func missing(m []string, in, role string) store.Finding {
	switch {
	case m[3] != "":
		return store.Finding{
			About: store.AboutSchema, Subject: m[3], Problem: "the login may not take this role",
			Mend: fmt.Sprintf("grant %s to authenticator", quoted(m[3])),
		}
	case m[1] == "schema":
		return store.Finding{
			About: store.AboutSchema, Subject: m[2], Problem: "usage is not granted",
			Mend: fmt.Sprintf("grant usage on schema %s to %s", quoted(m[2]), role),
		}
	}
	return store.Finding{
		About: store.AboutFunction, Subject: m[2], Problem: "execute is not granted",
		Mend: fmt.Sprintf("grant execute on function %s.%s to %s", in, quoted(m[2]), role),
	}
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
