package httpd

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// State is the outcome of a check.
type State string

// The states of a check.
const (
	OK      State = "ok"
	Warning State = "warning" // a problem that does not fail the probe
	Failed  State = "failed"
)

// Check is one health check. It holds no text from documents or services.
type Check struct {
	Name  string    `json:"name"`
	State State     `json:"state"`
	Since time.Time `json:"since,omitzero"` // of the state; zero: not known
	Class string    `json:"error_class,omitempty"`
	Hint  string    `json:"hint,omitempty"` // what to check or to fix
}

// Passes reports whether no check failed.
func Passes(checks []Check) bool { return len(failed(checks)) == 0 }

func failed(checks []Check) (names []string) {
	for _, c := range checks {
		if c.State == Failed {
			names = append(names, c.Name)
		}
	}
	return names
}

// Probe responds with 200 while all checks pass and 503 otherwise, in the form of Kubernetes' own servers: "ok", or one
// line per check with ?verbose. Source: https://kubernetes.io/docs/reference/using-api/health-checks.
type Probe struct {
	Name   string // as in the path
	Checks func() []Check
}

// ServeHTTP implements http.Handler.
func (p Probe) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	checks := p.Checks()
	var text strings.Builder
	names := failed(checks)
	switch {
	case Verbose(r):
		for _, c := range checks {
			text.WriteString(c.line())
		}
		verdict := "passed"
		if len(names) > 0 {
			verdict = "failed"
		}
		fmt.Fprintf(&text, "%s check %s\n", p.Name, verdict)
	case len(names) == 0:
		text.WriteString("ok\n")
	default:
		fmt.Fprintf(&text, "failed: %s\n", strings.Join(names, ", "))
	}
	plain(w)
	if len(names) > 0 {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_, _ = w.Write([]byte(text.String())) // an error means that the client is gone
}

// Verbose reports whether a request asks for each check.
func Verbose(r *http.Request) bool { return r.URL.Query().Has("verbose") }

func (c Check) line() string {
	sign := map[State]string{OK: "+", Warning: "!", Failed: "-"}[c.State]
	text := fmt.Sprintf("[%s]%s %s", sign, c.Name, c.State)
	if !c.Since.IsZero() {
		text += " since " + c.Since.UTC().Format(time.RFC3339)
	}
	if c.Class != "" {
		text += " (" + c.Class + ")"
	}
	if c.Hint != "" {
		text += ": " + c.Hint
	}
	return text + "\n"
}

// plain sets the headers of a plain text that must not be cached.
func plain(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
}
