package supabase_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/store/storetest"
	"github.com/seed-7227ef26/async-worker/internal/store/supabase"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// TestErrors: the store's errors for the answers of gateways and PostgREST. One store makes all calls: an error must
// not affect the next call.
func TestErrors(t *testing.T) {
	t.Parallel()
	var current atomic.Pointer[http.HandlerFunc]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then does the server notice that the client is gone
		(*current.Load())(w, r)
	}))
	t.Cleanup(server.Close)
	s := open(t, server.URL, "a-legacy-key", "c")
	body := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}
	for _, c := range []struct {
		name     string
		answer   http.HandlerFunc
		sentinel error
		class    taskerr.Class // when there is no sentinel
	}{
		{"a page of HTML", body(502, "<html>Bad gateway</html>"), nil, taskerr.TransientStorage},
		{"too large", body(413, "<html>Too large</html>"), nil, taskerr.TransientStorage},
		{"a null error", body(500, "null"), nil, taskerr.TransientStorage},
		{"an empty error", body(500, ""), nil, taskerr.TransientStorage},
		{"nonsense with 200", body(200, "<html>"), nil, taskerr.TransientStorage},
		{
			"cut off", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, nil,
			taskerr.TransientStorage,
		},
		{
			"overloaded", body(503, `{"code":"PGRST001","message":"Database client error"}`), nil,
			taskerr.TransientStorage,
		},
		{
			"no pool", body(504, `{"code":"PGRST003","message":"Timed out acquiring connection from connection pool"}`),
			nil, taskerr.TransientStorage,
		},
		{
			"statement timeout", body(500, `{"code":"57014","message":"canceling statement due to statement timeout"}`),
			nil, taskerr.TransientStorage,
		},
		{
			"serialization", body(500, `{"code":"40001","message":"could not serialize access"}`), nil,
			taskerr.TransientStorage,
		},
		{
			"gateway refuses the key", body(401, `{"message":"Invalid API key","hint":"Double check"}`),
			store.ErrForbidden, "",
		},
		{"expired key", body(401, `{"code":"PGRST301","message":"JWT expired"}`), store.ErrForbidden, ""},
		{
			"no right", body(403, `{"code":"42501","message":"permission denied for function aw_job"}`),
			store.ErrForbidden, "",
		},
		{
			"another tenant's key", body(400, `{"code":"AW004","message":"this key belongs to client a"}`),
			store.ErrForbidden, "",
		},
		{"no function", body(404, `{"code":"PGRST202","message":"Could not find the function public.aw_job(p) in the schema cache"}`), store.ErrSchema, ""},
		{"schema not exposed", body(406,
			`{"code":"PGRST106","message":"The schema must be one of the following: public"}`), store.ErrUnexposed, ""},
		{"no row", body(400, `{"code":"AW002","message":"there is no job"}`), store.ErrNotFound, ""},
		{
			"a value", body(400, `{"code":"22P05","message":"unsupported Unicode escape sequence: SECRET"}`), nil,
			taskerr.ValidationError,
		},
		{"a bug", body(400, `{"code":"23505","message":"duplicate key: SECRET"}`), nil, taskerr.InternalBug},
	} {
		current.Store(&c.answer)
		_, err := s.Job(t.Context(), "x")
		if c.sentinel != nil {
			if !errors.Is(err, c.sentinel) {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if e, ok := errors.AsType[*taskerr.Error](err); !ok || e.Class != c.class {
			t.Errorf("%s: %v, want %s", c.name, err, c.class)
		}
		if strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: the message quotes a row: %v", c.name, err)
		}
	}
	fine := body(200, `{"id":"x"}`)
	current.Store(&fine)
	if j, err := s.Job(t.Context(), "x"); err != nil || j.ID != "x" {
		t.Errorf("after all those errors: %+v, %v", j, err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	var hang http.HandlerFunc = func(_ http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() }
	current.Store(&hang)
	if _, err := s.Job(ctx, "x"); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// TestKeys: a legacy key is sent in both headers, a new one in apikey only, and one that was signed for a tenant in
// Authorization, with the project's own in apikey.
func TestKeys(t *testing.T) {
	t.Parallel()
	seen := make(chan http.Header, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/rest/v1/rpc/aw_job" || r.Header.Get("Content-Profile") != "worker" {
			t.Errorf("%s, profile %q", r.URL.Path, r.Header.Get("Content-Profile"))
		}
		seen <- r.Header
		_, _ = w.Write([]byte(`{}`))
	}))
	t.Cleanup(server.Close)
	for _, c := range []struct{ key, gateway, apikey, authorization string }{
		{"eyJ.a.b", "", "eyJ.a.b", "Bearer eyJ.a.b"},
		{"sb_secret_x", "", "sb_secret_x", ""},
		{"eyJ.a.b", "sb_publishable_y", "sb_publishable_y", "Bearer eyJ.a.b"},
		{"sb_secret_x", "sb_publishable_y", "sb_secret_x", ""},
	} {
		s, err := supabase.Open(server.URL+"/", c.key, supabase.Options{
			ClientID: "c", Schema: "worker", GatewayKey: c.gateway,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		if _, err := s.Job(t.Context(), "x"); err != nil {
			t.Fatal(err)
		}
		h := <-seen
		if h.Get("Apikey") != c.apikey || h.Get("Authorization") != c.authorization ||
			len(h.Values("Authorization")) > 1 {
			t.Errorf("%+v: apikey %q, authorization %q", c, h.Get("Apikey"), h.Values("Authorization"))
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for url, key := range map[string]string{
		"project.supabase.co": "k", "": "k", "postgres://u:p@h/d": "k",
		"https://x.supabase.co": "",
	} {
		if _, err := supabase.Open(url, key, supabase.Options{ClientID: "c"}); err == nil ||
			strings.Contains(err.Error(), "u:p") {
			t.Errorf("%q with key %q: %v", url, key, err)
		}
	}
}

// TestCheck runs Check on a real PostgREST.
func TestCheck(t *testing.T) {
	t.Parallel()
	empty := stacktest.PostgREST(t, stacktest.EmptyPostgres(t))
	if err := open(t, empty.URL, empty.ServiceKey(t), "c").Check(t.Context()); !errors.Is(err, store.ErrSchema) {
		t.Errorf("not migrated: %v", err)
	}
	api := stacktest.PostgREST(t, stacktest.PostgresWith(t, schema.Options{Dimensions: storetest.Dimensions}))
	for name, c := range map[string]struct {
		key  string
		want error
	}{
		"another tenant's key": {api.TenantKey(t, "b"), store.ErrForbidden},
		"a key of no tenant":   {api.TenantKey(t, ""), store.ErrForbidden},
		"a forged key":         {api.TenantKey(t, "a") + "x", store.ErrForbidden},
		"no key at all":        {"sb_publishable_x", store.ErrForbidden},
		"the tenant's key":     {api.TenantKey(t, "a"), nil},
		"the service key":      {api.ServiceKey(t), nil},
	} {
		if err := open(t, api.URL, c.key, "a").Check(t.Context()); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if jobs, err := open(t, api.URL, api.TenantKey(t, ""), "a").Jobs(t.Context(),
		store.JobFilter{Limit: 1}); !errors.Is(err, store.ErrForbidden) {
		t.Errorf("a key of no tenant names one: %+v, %v", jobs, err)
	}
	wide, err := supabase.Open(api.URL, api.ServiceKey(t), supabase.Options{ClientID: "a", Dimensions: 1536})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(wide.Close)
	if err := wide.Check(t.Context()); !errors.Is(err, store.ErrSchema) ||
		!strings.Contains(err.Error(), "EMBEDDING_DIMENSIONS") {
		t.Errorf("other dimensions: %v", err)
	}
}
