package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/seed-7227ef26/async-worker/handlers/agent"
	"github.com/seed-7227ef26/async-worker/internal/api"
	"github.com/seed-7227ef26/async-worker/internal/apitoken"
	"github.com/seed-7227ef26/async-worker/internal/dashboard"
	"github.com/seed-7227ef26/async-worker/internal/httpd"
	"github.com/seed-7227ef26/async-worker/internal/httpurl"
	"github.com/seed-7227ef26/async-worker/internal/mcp"
	"github.com/seed-7227ef26/async-worker/internal/picture"
	"github.com/seed-7227ef26/async-worker/internal/search"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/supabase"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// openAPI makes the HTTP API of the tenant.
func (w *Worker) openAPI() (err error) {
	t := w.tenant
	c := t.Config
	w.api, err = api.New(api.Deps{
		ClientID: c.ClientID, Store: t.Store, Feed: t.Feed, Bucket: t.Bucket, Queue: t.Queues.For,
		Replayer: t.replayer(w.maxAttempts), DeadLetters: t.Queues.DeadLetter, Check: checkTask,
		CheckNames: checkNames, MaxAttempts: w.maxAttempts, Search: w.find,
		Submitted: w.engine.Wake, StartsAt: w.engine.StartsAt, Scheduled: w.wakeSchedules,
		Picture:       t.picture(w.temp.path),
		HighWatermark: c.API.HighWatermark, MaxBlob: c.MaxBlobBytes, AllowOrigins: c.API.AllowOrigins, Log: t.log,
		Auth: api.Auth{Tokens: c.API.Tokens, JWT: t.jwtConfig(), Local: localCaller, AsCaller: t.asCaller()},
	})
	if err != nil {
		return fmt.Errorf("open the HTTP API: %w", err)
	}
	w.api.Mount("/mcp", apitoken.Read, t.assistants().Handler(func(r *http.Request) agent.Reader {
		return agent.NewReader(agent.Deps{
			Store: w.api.Reader(r.Context()), Find: w.api.Finder(r.Context()),
			StepTimeout: min(w.current.Load().Config.StepTimeout, mcp.CallLimit),
		})
	}))
	w.pages = w.openDashboard()
	return nil
}

// jwtConfig is how users' JWTs are verified; nil: there is neither a project nor a secret.
func (t *Tenant) jwtConfig() *api.JWTConfig {
	project, secret := strings.TrimRight(t.Config.Supabase.URL, "/"), t.Config.API.JWTSecret.Reveal()
	switch {
	case project != "":
		return &api.JWTConfig{Issuer: project + "/auth/v1", Secret: secret}
	case secret != "":
		return &api.JWTConfig{Secret: secret}
	}
	return nil
}

// asCaller opens the store with a caller's JWT; nil on a direct connection, where there is no such thing.
func (t *Tenant) asCaller() func(string) (store.Store, error) {
	c := t.Config
	if c.DatabaseURL.IsSet() {
		return nil
	}
	gateway := c.Supabase.AnonKey.Reveal()
	if gateway == "" {
		gateway = c.Supabase.Key.Reveal() // Supabase's gateway wants one of the project's own
	}
	shared := httpurl.Transport()
	return func(jwt string) (store.Store, error) {
		return supabase.Open(c.Supabase.URL, jwt, supabase.Options{
			ClientID: c.ClientID, Schema: c.DBSchema, GatewayKey: gateway, Transport: shared,
		})
	}
}

// checkTask returns why workers of this version refuse a task.
func checkTask(what task.Task) error {
	all, err := unequipped()
	if err != nil {
		return err
	}
	h, ok := all[what.Type]
	if !ok {
		return taskerr.Errorf(taskerr.ValidationError, "type is not one that this worker takes")
	}
	return h.Check(what)
}

// checkNames finds a member of a task's payload that is a field in camelCase.
func checkNames(what task.Task) error {
	all, err := unequipped()
	if err != nil || all[what.Type] == nil {
		return err
	}
	return all[what.Type].Spec().CheckNames(what.Payload)
}

// Find searches a store, which may be that of a caller. The question is embedded before documents that wait for the same
// service. It needs config.Models.
func (t *Tenant) Find(ctx context.Context, s search.Store, q search.Query) (search.Found, error) {
	embedder := t.questions
	if embedder == nil {
		embedder = t.Embedder
	}
	return search.Finder{Embedder: embedder, Rater: t.Rater, Log: t.log}.Find(ctx, s, q)
}

// picture draws pages of documents for the API; its files are in tempDir.
func (t *Tenant) picture(tempDir string) func(ctx context.Context, blob, sum string, page int) ([]byte, error) {
	drawer := picture.New(t.Bucket, tempDir, t.pool)
	return func(ctx context.Context, blob, sum string, page int) ([]byte, error) {
		drawn, err := drawer.Page(ctx, blob, sum, page)
		switch {
		case errors.Is(err, picture.ErrNone):
			err = api.ErrNoPicture
		case errors.Is(err, picture.ErrChanged):
			err = api.ErrChangedDocument
		case errors.Is(err, picture.ErrBusy):
			err = api.ErrPicturesBusy
		}
		return drawn, err
	}
}

// localCaller knows root and the worker's own user, who may do everything over the socket.
func localCaller(r *http.Request) (subject string, ok bool) {
	uid, ok := httpd.PeerUID(r)
	if !ok || uid != 0 && int(uid) != os.Geteuid() {
		return "", false
	}
	return "local:uid-" + strconv.Itoa(int(uid)), true
}

// apiEndpoints are the API's routes. It authorizes its callers itself.
func (w *Worker) apiEndpoints() []httpd.Endpoint {
	return []httpd.Endpoint{
		{Pattern: "/v1/", Access: httpd.Own, Handler: w.api, For: "the HTTP API"},
		{Pattern: "/mcp", Access: httpd.Own, Handler: w.api, For: "the agent's read-only tools, for assistants (MCP)"},
		{Pattern: "GET /openapi.json", Access: httpd.Own, Handler: w.api, For: "the API's OpenAPI document"},
		{Pattern: "GET " + dashboard.Root, Access: httpd.Own, Handler: w.pages, For: "the dashboard"},
		{Pattern: dashboard.Root + "/", Access: httpd.Own, Handler: w.pages, For: "its pages"},
		{Pattern: "GET /docs", Access: httpd.Own, Handler: w.api, For: "the API's calls, to read"},
	}
}

// OfStrangers reports whether anybody may make a request to a worker, with or without a token, and may keep it waiting.
func OfStrangers(r *http.Request) bool {
	return api.OfStrangers(r.URL.Path) || dashboard.OfStrangers(r.Method, r.URL.Path)
}
