// Package supabase opens a store over Supabase's API (PostgREST), through postgrest-go. Each call is one request to
// /rest/v1/rpc/<function>, which PostgREST runs as one transaction.
package supabase

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/supabase-community/postgrest-go"

	"github.com/seed-7227ef26/async-worker/internal/httpurl"
	"github.com/seed-7227ef26/async-worker/internal/pattern"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/rpc"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

// Options configure Open.
type Options struct {
	ClientID     string                     // the tenant; required
	Schema       string                     // DB_SCHEMA, which the project's API must expose; empty: public
	Dimensions   int                        // EMBEDDING_DIMENSIONS, which Check compares with the schema; zero: not checked
	OnUnanswered func(waited time.Duration) // see rpc.Options; nil: not called
	// GatewayKey is the project's anon or publishable key. Supabase's gateway accepts only the project's own keys as
	// apikey, so a key that was signed for a tenant is sent in Authorization alone. Empty: the key is sent in both.
	GatewayKey string
	// Transport carries the requests, and stays open, so that many stores can share its connections. Nil: a transport of
	// the store, which Close closes.
	Transport *http.Transport
}

// Open returns the store of the project at rawURL (SUPABASE_URL, without /rest/v1), with a service-role key or a
// tenant's key. It does not use the network; Store.Check does.
func Open(rawURL, key string, o Options) (store.Store, error) {
	c, err := OpenCaller(rawURL, key, o)
	if err != nil {
		return nil, err
	}
	return rpc.New(c, o.ClientID, rpc.Options{Dimensions: o.Dimensions, OnUnanswered: o.OnUnanswered}), nil
}

// OpenCaller returns what carries Open's calls, for others of the tenant that call the functions of the schema.
func OpenCaller(rawURL, key string, o Options) (rpc.Caller, error) {
	if _, err := httpurl.Parse(rawURL); err != nil {
		return nil, errors.New("SUPABASE_URL is not a URL such as https://project.supabase.co")
	}
	if key == "" {
		return nil, errors.New("the Supabase key is empty: set SUPABASE_KEY or SUPABASE_SERVICE_ROLE_KEY")
	}
	if o.Schema == "" {
		o.Schema = schema.DefaultSchema
	}
	var own *http.Transport
	if o.Transport == nil {
		own = httpurl.Transport()
		o.Transport = own
	}
	client, err := newClient(strings.TrimRight(rawURL, "/"), key, o)
	if err != nil {
		return nil, fmt.Errorf("make the Supabase client: %w", err)
	}
	return &caller{client: client, schema: o.Schema, role: roleOf(key), own: own}, nil
}

// restPath is where a Supabase project serves PostgREST.
const restPath = "/rest/v1"

// newClient returns the client of the project's PostgREST. It does not use supabase-go, whose client follows redirects
// to other hosts with the key, and can't be given a transport. Supabase's new keys (sb_…) are not JWTs and are refused
// in Authorization.
func newClient(baseURL, key string, o Options) (*postgrest.Client, error) {
	headers := map[string]string{"apikey": key}
	if !strings.HasPrefix(key, "sb_") {
		headers = map[string]string{"apikey": cmp.Or(o.GatewayKey, key), "Authorization": "Bearer " + key}
	}
	client, err := postgrest.NewClientWithError(baseURL+restPath, o.Schema, headers)
	if err != nil {
		return nil, err
	}
	client.Transport.Parent = httpurl.SameOrigin(o.Transport, "SUPABASE_URL")
	return client, nil
}

// caller is an rpc.Caller over postgrest-go. It uses only From: the client's Rpc ignores the HTTP status, has no
// context, and keeps its first error for good.
type caller struct {
	client       *postgrest.Client
	schema, role string          // of Grantee
	own          *http.Transport // nil: Options.Transport is used
}

// Call posts p to the function. The library panics when an error's body is the text null.
func (c *caller) Call(ctx context.Context, fn string, p json.RawMessage) (answer json.RawMessage, err error) {
	defer func() {
		if r := recover(); r != nil {
			answer, err = nil, fmt.Errorf("call %s: the answer could not be read: %v", fn, r)
		}
	}()
	args := map[string]json.RawMessage{"p": p}
	body, _, err := c.client.From("rpc/"+fn).Insert(args, false, "", "representation", "").ExecuteWithContext(ctx)
	if err != nil {
		return nil, decodeError(fn, err)
	}
	return body, nil
}

// Grantee implements rpc.Grantee.
func (c *caller) Grantee() (in, role string) {
	return `"` + c.schema + `"`, `"` + c.role + `"` // neither can contain a quote
}

// roleOf returns the role claim of a key. Supabase's new keys have none, and are for service_role.
func roleOf(key string) string {
	var claims struct {
		Role string `json:"role"`
	}
	parts := strings.Split(key, ".")
	if len(parts) == 3 {
		if payload, err := base64.RawURLEncoding.DecodeString(parts[1]); err == nil {
			_ = json.Unmarshal(payload, &claims) // the database reports an invalid claim set
		}
	}
	if !roleName.MatchString(claims.Role) {
		return "service_role"
	}
	return claims.Role
}

var roleName = pattern.New(`^[A-Za-z_][A-Za-z0-9_-]{0,62}$`)

// Close implements rpc.Caller.
func (c *caller) Close() {
	if c.own != nil {
		c.own.CloseIdleConnections()
	}
}

var (
	// raised matches postgrest-go's text of an API error: the code, which is a SQLSTATE or PGRST…, and the message.
	raised = pattern.New(`(?s)^\(([A-Z0-9]*)\) (.*)$`)
	// refusedKey matches the message of Supabase's gateway, which answers 401 without a code.
	refusedKey = pattern.New(`(?i)api ?key|jwt|unauthorized|forbidden|authorization`)
)

// decodeError converts postgrest-go's errors, which have only a text, to *rpc.SQLError.
func decodeError(fn string, err error) error {
	m := raised.FindStringSubmatch(err.Error())
	switch {
	case m == nil:
		return fmt.Errorf("call %s: %w", fn, err) // of the network, or an HTML page
	case m[1] != "":
		return &rpc.SQLError{State: m[1], Message: m[2]}
	case refusedKey.MatchString(m[2]):
		return &rpc.SQLError{State: "401", Message: m[2]}
	}
	return fmt.Errorf("call %s: %w", fn, err)
}
