// Package api is the HTTP API of a tenant's worker: jobs, their events as they come, dead letters, documents, search
// and results. Its OpenAPI document describes all calls. It decides who may call, and serves any listener.
package api

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/seed-7227ef26/async-worker/internal/apitoken"
	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/feed"
	"github.com/seed-7227ef26/async-worker/internal/replay"
	"github.com/seed-7227ef26/async-worker/internal/search"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/queue"
)

// Deps are what the API works with. All fields are required unless a zero value is explained.
type Deps struct {
	ClientID string // the tenant
	Store    store.Store
	Feed     *feed.Feed
	Bucket   blob.Bucket // for large messages, and for uploads
	Queue    func(task.Priority) queue.Queue
	Replayer replay.Replayer
	// DeadLetters is the queue with copies of the dead letters.
	DeadLetters queue.Queue
	// Check returns why a worker of this version refuses a task; nil: it does not.
	Check func(task.Task) error
	// CheckNames returns which member of a task's payload is a field in camelCase, as handlers.Spec has it; nil: it is
	// ignored, as in messages.
	CheckNames  func(task.Task) error
	MaxAttempts func(task.Type) int
	// Search finds chunks in the caller's store.
	Search func(context.Context, search.Store, search.Query) (search.Found, error)
	// Picture draws a page of a blob with a SHA-256; its errors: ErrNoPicture, ErrChangedDocument,
	// ErrPicturesBusy, or others. nil: no page has a picture.
	Picture func(ctx context.Context, blob, sha256 string, page int) ([]byte, error)
	// Submitted is called after a message was sent. StartsAt is called for a job that waits for its time. Both may be nil.
	Submitted func()
	StartsAt  func(time.Time)
	// Scheduled is called after a schedule was added or changed; nil: nobody is told.
	Scheduled func()
	// HighWatermark is the depth of the queues above which no job is accepted, and about how many jobs may wait for their
	// runAt; zero: DefaultHighWatermark.
	HighWatermark int
	// MaxBlob is the largest document, in bytes; zero: DefaultMaxBlob.
	MaxBlob int64
	// Patience is how long a request may take before it is answered that a service does not; zero: DefaultPatience.
	Patience time.Duration
	// QueueWait is how long a request waits for each call of a queue: for its depth, to send a message, to remove the copy
	// of a dead letter; zero: DefaultQueueWait.
	QueueWait    time.Duration
	Auth         Auth
	AllowOrigins []string // of pages that may call the API (CORS)
	Log          *slog.Logger
}

// DefaultHighWatermark is the depth of the queues, in messages, above which no job is accepted, and how many jobs may wait for
// their runAt.
const DefaultHighWatermark = 10_000

// DefaultMaxBlob is the largest document, in bytes.
const DefaultMaxBlob = 512 << 20

// DefaultPatience is how long a request may take. The server closes a connection without an answer 30 s after the request
// came, and a call of the database may take longer.
const DefaultPatience = 25 * time.Second

// MaxBody is the largest body of a request, in bytes.
const MaxBody = 1 << 20

// bodyLimit is how long a body may take to come, but that of a blob: 1 MiB at half a megabit per second.
const bodyLimit = 15 * time.Second

// API serves the calls of one tenant, until Close.
type API struct {
	deps   Deps
	auth   *authenticator
	limits *limits
	depth  *depth
	sends  *queueCalls
	copies *copies

	searches chan struct{}      // has an element for each that is being made
	end      context.CancelFunc // of what goes on without a request
	tickets  *tickets
	maxBlob  atomic.Int64
	spec     func() ([]byte, error)
	handler  http.Handler

	// ready registers the calls when it is called for the first time, and with that sets what follows: their schemas are
	// as large as the rest of an idle worker's API, and many tenants only use the queue.
	ready   func()
	mounted []mounted
	huma    huma.API
	mux     *http.ServeMux
	scopes  map[string]apitoken.Scope // by the calls' ids
}

// New returns the API.
func New(deps Deps) (*API, error) {
	useProblems()
	if deps.HighWatermark == 0 {
		deps.HighWatermark = DefaultHighWatermark
	}
	if deps.MaxBlob == 0 {
		deps.MaxBlob = DefaultMaxBlob
	}
	if deps.Patience == 0 {
		deps.Patience = DefaultPatience
	}
	if deps.QueueWait == 0 {
		deps.QueueWait = DefaultQueueWait
	}
	auth, err := newAuthenticator(deps)
	if err != nil {
		return nil, err
	}
	ctx, end := context.WithCancel(context.Background())
	a := &API{
		deps: deps, auth: auth, limits: newLimits(), tickets: newTickets(), end: end,
		searches: make(chan struct{}, maxSearches),
		depth:    newDepth(deps.Queue, newQueueCalls(ctx, 1, deps.QueueWait)), sends: newQueueCalls(ctx, maxSends, deps.QueueWait),
		copies: newCopies(ctx, deps.DeadLetters, deps.QueueWait, deps.Log),
	}
	a.deps.Replayer.Send = a.send
	a.maxBlob.Store(deps.MaxBlob)
	a.ready = sync.OnceFunc(a.register)
	a.spec = sync.OnceValues(func() ([]byte, error) {
		a.ready()
		return json.MarshalIndent(a.huma.OpenAPI(), "", "  ")
	})
	a.handler = a.allowOrigins(http.HandlerFunc(a.route))
	return a, nil
}

// register registers all calls.
func (a *API) register() {
	a.mux, a.scopes = http.NewServeMux(), map[string]apitoken.Scope{}
	a.huma = humago.New(a.mux, a.config())
	a.huma.UseMiddleware(a.authorize)
	a.registerJobs()
	a.registerEvents()
	a.registerLetters()
	a.registerDocuments()
	a.registerPictures()
	a.registerUploads()
	a.registerResults()
	a.registerOperation()
	a.registerSchedules()
	a.registerCognee()
	a.mux.HandleFunc("GET "+specPath, a.described(a.serveSpec))
	a.mux.HandleFunc("GET "+docsPath, a.described(a.serveDocs))
	for _, m := range a.mounted {
		a.mux.Handle(m.pattern, m.handler)
	}
}

// Spec returns the OpenAPI document. It is written when the first caller asks for it.
func (a *API) Spec() ([]byte, error) { return a.spec() }

// ServeHTTP implements http.Handler.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.ready()
	a.handler.ServeHTTP(w, r)
}

// route answers requests without a route with a problem.
func (a *API) route(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	if _, pattern := a.mux.Handler(r); pattern == "" {
		a.unrouted(w, r)
		return
	}
	acceptOne(r)
	begun := &begun{ResponseWriter: w}
	r = r.WithContext(context.WithValue(store.FromAPI(r.Context()), untilKey{}, time.Now().Add(a.deps.Patience)))
	defer a.recovered(begun, r)
	a.mux.ServeHTTP(begun, r)
}

// acceptOne leaves of the header Accept only whether a call is to stream events. There is one other format, whatever a client
// accepts, and the library doesn't take all headers that it may send, such as "application/json;,*/*".
func acceptOne(r *http.Request) {
	if !strings.HasPrefix(r.URL.Path, "/v1/") {
		return
	}
	streams := strings.Contains(r.Header.Get("Accept"), eventStream)
	if r.Header.Del("Accept"); streams {
		r.Header.Set("Accept", eventStream)
	}
}

// untilKey is the context's key of the time until which a request has to be answered.
type untilKey struct{}

// errPatience is the cause of the end of a request that was not answered in time.
var errPatience = errors.New("api: the request took too long")

// bounded is the context of a request until it has to be answered, unless it bounds itself.
func bounded(ctx context.Context, byItself bool) (context.Context, context.CancelFunc) {
	until, ok := ctx.Value(untilKey{}).(time.Time)
	if !ok || byItself {
		return ctx, func() {}
	}
	return context.WithDeadlineCause(ctx, until, errPatience)
}

// unrouted answers a path or a method that there is not.
func (a *API) unrouted(w http.ResponseWriter, r *http.Request) {
	probe := &headerOnly{header: http.Header{}}
	a.mux.ServeHTTP(probe, r)
	p := problem(http.StatusNotFound, codeNotFound, "there is no such call; see /docs")
	if allow := probe.header.Get("Allow"); probe.status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", allow)
		p = problem(http.StatusMethodNotAllowed, "METHOD_NOT_ALLOWED", "this path allows "+allow)
	}
	p.write(w)
}

// headerOnly keeps the status and the header of a response.
type headerOnly struct {
	header http.Header
	status int
}

func (h *headerOnly) Header() http.Header          { return h.header }
func (h *headerOnly) WriteHeader(status int)       { h.status = status }
func (*headerOnly) Write(body []byte) (int, error) { return len(body), nil }

// recovered turns a panic into a 500. The library panics when a response can't be written, also because its client has
// gone.
func (a *API) recovered(w *begun, r *http.Request) {
	cause := recover()
	switch {
	case cause == nil:
		return
	case cause == http.ErrAbortHandler: //nolint:errorlint // as net/http compares it
		panic(cause)
	case r.Context().Err() != nil:
		return // nobody waits for the response
	}
	a.deps.Log.Error("a request failed", "path", r.Pattern, "error", cause, "hint", nextReport)
	if w.written {
		panic(http.ErrAbortHandler) // the client sees that the response is not complete
	}
	failure().write(w)
}

// begun is a response that knows whether it has begun.
type begun struct {
	http.ResponseWriter
	written bool
}

// WriteHeader implements http.ResponseWriter.
func (b *begun) WriteHeader(status int) {
	b.written = true
	b.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (b *begun) Write(body []byte) (int, error) {
	b.written = true
	return b.ResponseWriter.Write(body)
}

// Unwrap is for http.ResponseController.
func (b *begun) Unwrap() http.ResponseWriter { return b.ResponseWriter }

func (a *API) config() huma.Config {
	return huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title: "async-worker", Version: "1",
				Description: "Submits document tasks, follows them, and reads what they made. Times are RFC 3339, by the " +
					"database's clock. Errors are problem+json with a code.",
			},
			Components: &huma.Components{
				Schemas: huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer),
				SecuritySchemes: map[string]*huma.SecurityScheme{"bearer": {
					Type: "http", Scheme: "bearer",
					Description: "A token of `async-worker token add`, or a JWT of the Supabase project.",
				}},
			},
			Security: []map[string][]string{{"bearer": {}}},
		},
		Formats: map[string]huma.Format{
			"application/json": huma.DefaultJSONFormat, "json": huma.DefaultJSONFormat, // of application/problem+json
		},
		DefaultFormat:                "application/json",
		RejectUnknownQueryParameters: true,
	}
}

// call describes an operation.
type call struct {
	method, path string
	id           string // of the operation
	summary      string
	tag          string
	scope        apitoken.Scope
	status       int                       // of success; zero: 200
	body         int64                     // the largest body; zero: MaxBody
	byItself     bool                      // it bounds its time by itself
	request      *huma.RequestBody         // of a call that reads its body by itself
	responses    map[string]*huma.Response // beside the ones that the types give
}

const scopeKey = "scope"

// register adds a call. Its errors are answered as problems.
func register[I, O any](a *API, c call, do func(context.Context, *I) (*O, error)) {
	a.scopes[c.id] = c.scope
	op := huma.Operation{
		Method: c.method, Path: c.path, OperationID: c.id, Summary: c.summary, Tags: []string{c.tag},
		DefaultStatus: c.status, MaxBodyBytes: c.body, BodyReadTimeout: bodyLimit, Metadata: map[string]any{scopeKey: c.scope},
		RequestBody: c.request, Responses: c.responses, Description: "Needs the scope " + c.scope.String() + ".",
	}
	if op.MaxBodyBytes == 0 {
		op.MaxBodyBytes = MaxBody
	}
	if op.Responses == nil {
		op.Responses = map[string]*huma.Response{}
	}
	op.Responses["default"] = &huma.Response{
		Description: "Error",
		Content: map[string]*huma.MediaType{"application/problem+json": {
			Schema: schemaOf[Problem](a),
		}},
	}
	huma.Register(a.huma, op, func(ctx context.Context, in *I) (*O, error) {
		ctx, done := bounded(ctx, c.byItself)
		defer done()
		out, err := do(ctx, in)
		if err != nil {
			return nil, a.answer(ctx, c.id, err)
		}
		return out, nil
	})
}
