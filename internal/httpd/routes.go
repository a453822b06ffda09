package httpd

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"strings"
)

// Access is which requests to an endpoint need no token over TCP.
type Access int

// The levels of access.
const (
	WithToken Access = iota
	OpenBrief        // no token, except for ?verbose
	Open             // no token
	Own              // the handler decides
)

// words returns the Access as the index shows it.
func (a Access) words() string {
	return map[Access]string{
		WithToken: "with the token", OpenBrief: "open; ?verbose with the token", Open: "open",
		Own: "with a token of its own",
	}[a]
}

// Endpoint is one route.
type Endpoint struct {
	Pattern string // of http.ServeMux: "GET /livez"; "/v1/" are all methods and all paths below
	For     string // its purpose, in a few words
	Access  Access
	Handler http.Handler
}

// index is the path of the list of routes.
const index = "/"

func (e Endpoint) path() string {
	_, path, found := strings.Cut(e.Pattern, " ")
	if !found {
		return e.Pattern
	}
	return path
}

func (e Endpoint) serves(path string) bool {
	return path == e.path() || strings.HasSuffix(e.path(), "/") && strings.HasPrefix(path, e.path())
}

// Routes is the table of routes. Its Handler serves them, with an index at "/"; Open is for Config.Open.
type Routes struct {
	Name string // of the program
	// About is shown to authorized clients: the version and the tenant.
	About     string
	Endpoints []Endpoint
}

// Open reports whether a request needs no token.
func (s Routes) Open(r *http.Request) bool {
	if r.URL.Path == index {
		return true
	}
	for _, e := range s.Endpoints {
		if e.path() == r.URL.Path {
			return e.Access == Open || e.Access == OpenBrief && !Verbose(r)
		}
	}
	return false
}

// Own reports whether the handler of a request's endpoint authorizes it by itself.
func (s Routes) Own(r *http.Request) bool {
	for _, e := range s.Endpoints {
		if e.Access == Own && e.serves(r.URL.Path) {
			return true
		}
	}
	return false
}

// Handler serves the endpoints and the index. A 404 points to the index.
func (s Routes) Handler() http.Handler {
	mux := http.NewServeMux()
	for _, e := range s.Endpoints {
		mux.Handle(e.Pattern, e.Handler)
	}
	mux.HandleFunc("GET "+index+"{$}", s.list)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, pattern := mux.Handler(r)
		if pattern == "" { // no route, another method, or a redirection to a clean path
			h.ServeHTTP(&missing{ResponseWriter: w}, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// list responds with the index, as HTML or text as the client accepts.
func (s Routes) list(w http.ResponseWriter, r *http.Request) {
	plain(w)
	if !strings.Contains(r.Header.Get("Accept"), "text/html") {
		_, _ = w.Write([]byte(s.text(trusted(r)))) // an error means that the client is gone
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	_, _ = w.Write([]byte(s.page(trusted(r)))) // an error means that the client is gone
}

func (s Routes) text(known bool) string {
	var out strings.Builder
	out.WriteString(s.Name + "\n")
	if known {
		out.WriteString(s.About + "\n")
	}
	out.WriteByte('\n')
	for _, e := range s.Endpoints {
		fmt.Fprintf(&out, "%-14s %s (%s)\n", e.Pattern, e.For, e.Access.words())
	}
	return out.String()
}

func (s Routes) page(known bool) string {
	var out strings.Builder
	fmt.Fprintf(&out, "<!doctype html>\n<html lang=\"en\"><title>%[1]s</title>\n<h1>%[1]s</h1>\n",
		html.EscapeString(s.Name))
	if known {
		fmt.Fprintf(&out, "<p>%s</p>\n", html.EscapeString(s.About))
	}
	out.WriteString("<ul>\n")
	for _, e := range s.Endpoints {
		what := html.EscapeString(e.Pattern)
		if strings.HasPrefix(e.Pattern, "GET ") && !strings.Contains(e.Pattern, "{") {
			what = fmt.Sprintf("<a href=\"%s\">%s</a>", html.EscapeString(e.path()), what)
		}
		fmt.Fprintf(&out, "<li>%s: %s (%s)</li>\n", what, html.EscapeString(e.For), html.EscapeString(e.Access.words()))
	}
	out.WriteString("</ul>\n</html>\n")
	return out.String()
}

// missing adds a pointer to the index to a 404.
type missing struct {
	http.ResponseWriter
	code int
}

// WriteHeader implements http.ResponseWriter.
func (m *missing) WriteHeader(code int) {
	m.code = code
	m.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (m *missing) Write(body []byte) (int, error) {
	if m.code == http.StatusNotFound {
		if _, err := m.ResponseWriter.Write(
			[]byte("nothing is served at this path; GET / lists the paths\n")); err != nil {
			return 0, err
		}
		return len(body), nil
	}
	return m.ResponseWriter.Write(body)
}

type trustedKey struct{}

// trust marks requests as authorized to see everything: those over the socket, those with the token, and those from
// this machine where no token is needed, which is only on a loopback address.
func trust(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), trustedKey{}, true)))
	})
}

// trusted reports whether trust has marked a request.
func trusted(r *http.Request) bool {
	marked, _ := r.Context().Value(trustedKey{}).(bool)
	return marked
}
