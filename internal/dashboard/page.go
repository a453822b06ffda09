package dashboard

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/api"
	"github.com/seed-7227ef26/async-worker/internal/apitoken"
)

// page is one request of somebody who is signed in.
type page struct {
	d     *Dashboard
	w     http.ResponseWriter
	r     *http.Request
	whole *http.Request // r without the time limit of a change
	by    *api.Caller   // nil while it is not known
	base  string        // the path of the overview, as the browser sees it
}

// errNoPage reports a path without a page.
var errNoPage = &api.Problem{Status: http.StatusNotFound, Code: "NOT_FOUND", Detail: "there is no such page; begin at the overview"}

// prefixed is what a proxy may put before the paths of pages.
var prefixed = regexp.MustCompile(`^(/[A-Za-z0-9][A-Za-z0-9._~-]*)+$`)

// baseOf is the path of the overview, as the browser sees it: behind a proxy with the prefix that the proxy tells.
func baseOf(r *http.Request) string {
	if prefix := r.Header.Get("X-Forwarded-Prefix"); len(prefix) < 200 && prefixed.MatchString(prefix) {
		return prefix + Root + "/"
	}
	return Root + "/"
}

// up is the way from the path of a request back to Root. Redirects are relative: so they need no prefix of a proxy.
func up(r *http.Request) string {
	below := strings.TrimPrefix(r.URL.EscapedPath(), Root+"/")
	return "./" + strings.Repeat("../", strings.Count(below, "/"))
}

func redirectTo(w http.ResponseWriter, relative string) {
	w.Header().Set("Location", relative)
	w.WriteHeader(http.StatusSeeOther)
}

func cutPattern(pattern string) (method, path string, ok bool) { return strings.Cut(pattern, " ") }

// goTo answers a change: the browser gets the page that shows what became of it. notice is one of notices.
func (p *page) goTo(path, notice string) error {
	if notice != "" {
		path += "?" + url.Values{"notice": {notice}}.Encode()
	}
	redirectTo(p.w, up(p.r)+path)
	return nil
}

// live reports whether a stream is asked for.
func (p *page) live() bool { return strings.Contains(p.r.Header.Get("Accept"), "text/event-stream") }

// scripted reports whether a script of the page asks, which wants a part of a page.
func (p *page) scripted() bool { return p.r.Header.Get("HX-Request") == "true" }

// view is what every page shows.
type view struct {
	Base    string
	Static  string
	Title   string
	Section string // of the navigation
	Client  string
	Version string
	Name    string // who is signed in; empty: nobody
	Scope   string
	Submit  bool
	Operate bool
	Notice  string
	Data    any
}

// With is the view with the data of a part of the page.
func (v view) With(data any) view {
	v.Data = data
	return v
}

// Live is the address of a page with a filter.
func (v view) Live(path, filter string) string { return path + query("q", filter) }

// notices are what a page may say of the change before it.
var notices = map[string]string{
	"canceled":  "The cancel was requested. A running job stops at its next safe point.",
	"retried":   "The job is queued again.",
	"replayed":  "The dead letter is being replayed by this job.",
	"removed":   "The dead letter was removed for good.",
	"resent":    "The webhook is due again, and is sent within seconds.",
	"submitted": "The job was submitted.",
	"deleting":  "This job removes the document from the index.",

	"scheduled":   "The schedule was added.",
	"before":      "The schedule was added already by the same form, and was not changed.",
	"paused":      "The schedule is paused.",
	"resumed":     "The schedule fires again.",
	"unscheduled": "The schedule was removed.",
}

func (p *page) view(title, section string, data any) view {
	v := view{
		Base: p.base, Title: title, Section: section, Client: p.d.deps.ClientID,
		Version: p.d.deps.Version, Data: data, Notice: notices[p.r.URL.Query().Get("notice")],
	}
	if p.by != nil {
		v.Name, v.Scope = p.by.Name(), p.by.Scope().String()
		v.Submit, v.Operate = p.by.May(apitoken.Submit), p.by.May(apitoken.Operate)
	}
	return v
}

// show answers with a page.
func (p *page) show(name, title, section string, data any) error {
	return p.send(http.StatusOK, name, p.view(title, section, data))
}

func (p *page) send(status int, name string, v view) error {
	var text bytes.Buffer
	if err := render(&text, name, "layout", v); err != nil {
		return fmt.Errorf("render the page %s: %w", name, err)
	}
	h := p.w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Vary", "Accept-Encoding, Cookie")
	if !strings.Contains(p.r.Header.Get("Accept-Encoding"), "gzip") {
		p.w.WriteHeader(status)
		_, _ = p.w.Write(text.Bytes()) // an error means that the client is gone
		return nil
	}
	h.Set("Content-Encoding", "gzip")
	p.w.WriteHeader(status)
	packed := gzip.NewWriter(p.w)
	_, _ = packed.Write(text.Bytes()) // as above
	_ = packed.Close()
	return nil
}

// fragment renders a part of a page.
func (p *page) fragment(name, part, section string, data any) ([]byte, error) {
	var text bytes.Buffer
	if err := render(&text, name, part, p.view("", section, data)); err != nil {
		return nil, fmt.Errorf("render %s of the page %s: %w", part, name, err)
	}
	return text.Bytes(), nil
}

// failure is what the page of an error shows.
type failure struct {
	Status int
	Code   string
	Detail string
}

// problem describes an error, and sets the headers of its answer.
func (p *page) problem(err error) *api.Problem {
	known, ok := errors.AsType[*api.Problem](err)
	if !ok && p.by != nil {
		known = p.by.Describe(p.r.Context(), "show "+p.r.Pattern, err)
	} else if !ok {
		known = &api.Problem{Status: http.StatusInternalServerError, Code: "INTERNAL_ERROR", Detail: "try again later"}
	}
	if known.Status == http.StatusServiceUnavailable && p.late() {
		p.d.deps.Log.Warn("a change was not made in time", "doing", p.r.Pattern, "error", err)
		known = lateProblem()
	}
	for name, values := range known.GetHeaders() {
		if name != "Www-Authenticate" {
			p.w.Header()[name] = values
		}
	}
	return known
}

// fail answers with an error.
func (p *page) fail(err error) {
	known := p.problem(err)
	detail := known.Detail
	if known.Code == "NOT_FOUND" && known != errNoPage {
		detail = "It does not exist, or no longer, or it belongs to another tenant. Look for it in its list."
	}
	title := map[int]string{
		http.StatusNotFound: "Not found", http.StatusForbidden: "Not allowed", http.StatusConflict: "Not possible now",
		http.StatusBadRequest: "Not valid", http.StatusServiceUnavailable: "Not available",
	}[known.Status]
	if title == "" {
		title = http.StatusText(known.Status)
	}
	if p.scripted() {
		http.Error(p.w, detail, known.Status)
		return
	}
	if err := p.send(known.Status, "error", p.view(title, "", failure{known.Status, known.Code, detail})); err != nil {
		p.d.deps.Log.Error("a page could not be rendered", "error", err, "hint", "a bug in the worker: please report it")
		http.Error(p.w, "the page could not be rendered; the worker's log says why", http.StatusInternalServerError)
	}
}
