// Package dashboard is the worker's pages for people, rendered here and complete without JavaScript. It has no right of its
// own: whoever signs in with a token of the HTTP API does by pages what the API lets that token do.
package dashboard

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/api"
	"github.com/seed-7227ef26/async-worker/internal/apitoken"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Root is the path below which all pages are.
const Root = "/dashboard"

// Deps are what the pages show.
type Deps struct {
	ClientID string // the tenant
	Version  string // of the program
	API      *api.API
	// Health is the worker's state. It must not block.
	Health func() Health
	// Settings are the worker's settings in the order in which they are shown, without the value of a secret.
	Settings func() []Setting
	// Examine tries what the worker needs, for as long as ctx lasts.
	Examine func(context.Context) []Check
	// Patience is how long a page, or a change, waits for the database; zero: DefaultPatience, and a change
	// api.DefaultPatience. A page that does many things may take longer.
	Patience time.Duration
	Log      *slog.Logger
}

// Health is the state of a worker.
type Health struct {
	Worker       string
	Started      time.Time
	Line         string // in one sentence
	Ready        bool
	Running      int
	Slots        int
	Troubles     []Trouble
	Dependencies []Dependency
}

// Trouble is a check of readiness that fails.
type Trouble struct {
	Name  string
	Since time.Time // zero: not known
	Hint  string    // what to do
}

// Dependency is a service that tasks have needed, with the state of its circuit breaker.
type Dependency struct {
	Name  string
	State string // closed: up; open: down; half-open: being tried
	Since time.Time
	Hint  string // what to do; empty: nothing is to be done
}

// Setting is a setting of the worker.
type Setting struct {
	Subject string
	Name    string
	Value   string // of a secret: [redacted]; empty: not set
	Origin  string // where the value came from
	Help    string
}

// Check is the result of one check of the doctor.
type Check struct {
	Name   string
	State  string // ok, warn, fail or skipped
	Seen   string
	Remedy string
}

// Dashboard serves the pages.
type Dashboard struct {
	deps      Deps
	changes   time.Duration // how long a change may take
	links     *links
	examining chan struct{} // holds the doctor that is running
	handler   http.Handler
}

// route is a page, or a change.
type route struct {
	pattern string // of http.ServeMux, below Root
	scope   apitoken.Scope
	do      func(*page) error
}

func (d *Dashboard) routes() []route {
	const read, submit, operate = apitoken.Read, apitoken.Submit, apitoken.Operate
	return []route{
		{"GET /{$}", read, (*page).overview},
		{"GET /live", read, (*page).overviewLive},
		{"GET /jobs", read, (*page).jobs},
		{"GET /live/jobs", read, (*page).jobsLive}, // not below /jobs: any word there can be the id of a job
		{"GET /change-jobs", submit, (*page).bulkPreview},
		{"POST /change-jobs", submit, (*page).bulk},
		{"GET /jobs/{id}", read, (*page).job},
		{"GET /jobs/{id}/live", read, (*page).jobLive},
		{"GET /jobs/{id}/events", read, (*page).events},
		{"GET /jobs/{id}/children", read, (*page).children},
		{"GET /jobs/{id}/{action}", submit, (*page).confirmJob},
		{"POST /jobs/{id}/{action}", submit, (*page).changeJob},
		{"GET /dead-letters", read, (*page).letters},
		{"GET /dead-letters/replay", operate, (*page).lettersPreview},
		{"POST /dead-letters/replay", operate, (*page).replayLetters},
		{"GET /dead-letters/replayed", read, (*page).replayed},
		{"GET /dead-letters/replayed/live", read, (*page).replayedLive},
		{"GET /dead-letters/{id}", read, (*page).letter},
		{"GET /dead-letters/{id}/{action}", operate, (*page).confirmLetter},
		{"POST /dead-letters/{id}/{action}", operate, (*page).changeLetter},
		{"GET /documents", read, (*page).documents},
		{"GET /documents/upload", submit, (*page).uploadForm},
		{"GET /documents/upload/live", submit, (*page).uploadLive},
		{"POST /documents/upload", submit, (*page).upload},
		{"GET /documents/{id}", read, (*page).document},
		{"GET /documents/{id}/pages/{page}", read, (*page).sheet},
		{"GET /documents/{id}/pages/{page}/picture", read, (*page).picture},
		{"GET /documents/{id}/delete", operate, (*page).confirmDelete},
		{"POST /documents/{id}/delete", operate, (*page).deleteDocument},
		{"GET /search", read, (*page).search},
		{"GET /ask", submit, (*page).askForm},
		{"POST /ask", submit, (*page).ask},
		{"GET /webhooks", read, (*page).webhooks},
		{"GET /webhooks/{id}/resend", operate, (*page).confirmResend},
		{"POST /webhooks/{id}/resend", operate, (*page).resend},
		{"GET /schedules", read, (*page).schedules},
		{"GET /schedules/{id}", read, (*page).schedule},
		{"GET /schedules/{id}/{action}", operate, (*page).confirmSchedule},
		{"POST /schedules/{id}/{action}", operate, (*page).changeSchedule},
		{"GET /new-schedule", operate, (*page).newSchedule},
		{"POST /new-schedule", operate, (*page).addSchedule},
		{"GET /settings", operate, (*page).settings},
		{"GET /doctor", operate, (*page).doctor},
		{"POST /doctor", operate, (*page).examine},
	}
}

// New returns the dashboard.
func New(deps Deps) *Dashboard {
	changes := cmp.Or(deps.Patience, api.DefaultPatience)
	deps.Patience = cmp.Or(deps.Patience, DefaultPatience)
	d := &Dashboard{deps: deps, changes: changes, links: newLinks(), examining: make(chan struct{}, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+Root, func(w http.ResponseWriter, _ *http.Request) { redirectTo(w, "dashboard/") })
	mux.Handle("GET "+Root+"/static/", Files())
	mux.HandleFunc("GET "+Root+"/login", d.loginForm)
	mux.HandleFunc("POST "+Root+"/login", d.login)
	mux.HandleFunc("POST "+Root+"/logout", d.logout)
	mux.HandleFunc("POST "+Root+"/link", d.newLink)
	for _, r := range d.routes() {
		method, path, _ := cutPattern(r.pattern)
		mux.HandleFunc(method+" "+Root+path, func(w http.ResponseWriter, req *http.Request) { d.serve(w, req, r) })
	}
	mux.HandleFunc(Root+"/", func(w http.ResponseWriter, req *http.Request) {
		d.serve(w, req, route{scope: apitoken.Read, do: func(*page) error { return errNoPage }})
	})
	d.handler = protect(mux)
	return d
}

// ServeHTTP implements http.Handler.
func (d *Dashboard) ServeHTTP(w http.ResponseWriter, r *http.Request) { d.handler.ServeHTTP(w, r) }

// serve finds out who asks, and lets the route answer.
func (d *Dashboard) serve(w http.ResponseWriter, r *http.Request, to route) {
	p := &page{d: d, w: w, r: r.WithContext(store.FromAPI(r.Context())), base: baseOf(r)}
	p.whole = p.r
	if r.Method != http.MethodGet {
		defer p.bound()()
	}
	var err error
	if p.by, err = d.deps.API.CallerOf(r.Context(), d.tokenOf(r)); err != nil {
		d.strange(p, err)
		return
	}
	if err = p.by.Require(to.scope); err == nil {
		err = to.do(p)
	}
	if err != nil {
		p.fail(err)
	}
}

// strange answers somebody who is not signed in, or whose token is no longer accepted.
func (d *Dashboard) strange(p *page, err error) {
	known, ok := errors.AsType[*api.Problem](err)
	switch {
	case !ok || known.Status != http.StatusUnauthorized:
		p.fail(err)
	case p.live() || p.scripted() && p.r.Method != http.MethodGet:
		http.Error(p.w, "you are signed out; sign in and try again", http.StatusUnauthorized)
	case p.r.Method != http.MethodGet:
		p.keepForm()
	default:
		redirectTo(p.w, up(p.r)+"login"+nextOf(p.r))
	}
}
