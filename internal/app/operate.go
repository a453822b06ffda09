package app

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/httpd"
	"github.com/seed-7227ef26/async-worker/internal/metrics"
	"github.com/seed-7227ef26/async-worker/internal/tenants"
)

// dependency is the prefix of the names of checks that only warn.
const dependency = "dependency "

// SocketName is the name of the Unix socket in $RUNTIME_DIRECTORY.
const SocketName = "http.sock"

// SocketOf returns the path of the socket of a tenant's worker that runs under systemd.
func SocketOf(clientID string) string {
	return filepath.Join("/run/async-worker", clientID, SocketName)
}

// Status is a worker's state for operators: the response of /status. It holds no text from documents or services.
type Status struct {
	ClientID string    `json:"client_id"`
	Worker   string    `json:"worker"` // host, process id and a random suffix, as in the rows of jobs
	Version  string    `json:"version"`
	Started  time.Time `json:"started"`
	Alive    bool      `json:"alive"`
	Ready    bool      `json:"ready"`
	// Line is the status line that systemctl shows.
	Line   string        `json:"line"`
	Checks []httpd.Check `json:"checks"`
	Engine engine.Health `json:"engine"`
}

// status returns the worker's state.
func (w *Worker) status() Status {
	h := w.Health()
	checks := readiness(h, w.started)
	return Status{
		ClientID: w.tenant.Config.ClientID, Worker: w.tenant.worker, Version: Version, Started: w.started,
		Alive: w.Alive() == nil, Ready: httpd.Passes(checks), Line: StatusLine(h), Checks: checks, Engine: h,
	}
}

// readiness returns the checks of /readyz: settings, store, queues, and that no drain is in progress. Dependencies
// that only some tasks need give a warning.
func readiness(h engine.Health, started time.Time) []httpd.Check {
	all := []httpd.Check{{Name: "settings", State: httpd.OK, Since: started}}
	store := httpd.Check{Name: "store", State: httpd.OK}
	if h.Store != nil {
		store = troubled("store", httpd.Failed, &h.Store.Trouble)
	}
	all = append(all, store)
	for _, q := range h.Queues {
		all = append(all, troubled("queue "+q.Name, httpd.Failed, q.Trouble))
	}
	for _, s := range h.Stuck {
		all = append(all, httpd.Check{
			Name: s.Name, State: httpd.Failed, Since: s.Due, Hint: "it makes no progress; restart the worker",
		})
	}
	draining := httpd.Check{Name: "draining", State: httpd.OK}
	if h.Draining {
		draining.State, draining.Hint = httpd.Failed, "it finishes its running tasks and takes no new ones"
	}
	all = append(all, draining)
	for _, d := range h.Dependencies {
		c := troubled(dependency+string(d.Name), httpd.Warning, d.Trouble)
		if d.Down() {
			c.State, c.Since = httpd.Warning, d.Since
		} else {
			c.State = httpd.OK
		}
		all = append(all, c)
	}
	return all
}

func troubled(name string, as httpd.State, t *engine.Trouble) httpd.Check {
	if t == nil {
		return httpd.Check{Name: name, State: httpd.OK}
	}
	return httpd.Check{Name: name, State: as, Since: t.Since, Class: string(t.Class), Hint: t.Hint}
}

// liveness returns the check of /livez.
func (w *Worker) liveness() []httpd.Check {
	if err := w.Alive(); err != nil {
		return []httpd.Check{{Name: "loops", State: httpd.Failed, Hint: err.Error()}}
	}
	return []httpd.Check{{Name: "loops", State: httpd.OK}}
}

// listen opens the socket and the TCP address for operators' requests.
func (w *Worker) listen(ctx context.Context) (err error) {
	if err := w.openAPI(); err != nil {
		return err
	}
	c, routes := w.tenant.Config, w.routes()
	cfg := httpd.Config{
		Addr: c.HTTPAddr, Token: c.HTTPToken.Reveal(), Handler: routes.Handler(), Open: routes.Open, Own: routes.Own,
		Strangers: OfStrangers, Log: w.tenant.log,
	}
	if c.RuntimeDir != "" {
		cfg.Socket, cfg.Group, cfg.Front = filepath.Join(c.RuntimeDir, SocketName), tenants.Operators, tenants.Front
	}
	if w.http, err = httpd.Listen(ctx, cfg); err != nil {
		return fmt.Errorf("serve health and metrics: %w", err)
	}
	for _, a := range w.http.Addrs() {
		w.tenant.log.Info("listening", "network", a.Network(), "address", a.String())
	}
	return nil
}

// routes returns the HTTP routes. They read snapshots: no request can block the engine.
func (w *Worker) routes() httpd.Routes {
	livez := httpd.Probe{Name: "livez", Checks: w.liveness}
	readyz := httpd.Probe{Name: "readyz", Checks: func() []httpd.Check { return readiness(w.Health(), w.started) }}
	status := http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { httpd.WriteJSON(rw, w.status()) })
	return httpd.Routes{
		Name:  "async-worker",
		About: "version " + Version + ", tenant " + w.tenant.Config.ClientID,
		Endpoints: append([]httpd.Endpoint{
			// A supervisor or load balancer needs only yes or no.
			{
				Pattern: "GET /livez", Access: httpd.OpenBrief, Handler: livez,
				For: "200 while the worker makes progress; otherwise restart it",
			},
			{
				Pattern: "GET /readyz", Access: httpd.OpenBrief, Handler: readyz,
				For: "200 while it takes tasks; ?verbose: each check",
			},
			{
				Pattern: "GET /status", Access: httpd.WithToken, Handler: status,
				For: "the worker's full state, as JSON",
			},
			{
				Pattern: "GET /metrics", Access: httpd.WithToken, Handler: w.tenant.metrics.Handler(),
				For: "metrics for Prometheus",
			},
		}, w.apiEndpoints()...),
	}
}

// watch gives the metrics their sources, which are read at each scrape.
func (w *Worker) watch() {
	m := w.tenant.metrics
	m.Watch(metrics.State{
		Health: w.Health,
		Checks: func() map[string]bool {
			passes := map[string]bool{}
			for _, c := range readiness(w.Health(), w.started) {
				if !strings.HasPrefix(c.Name, dependency) {
					passes[c.Name] = c.State == httpd.OK
				}
			}
			return passes
		},
		Alive: func() bool { return w.Alive() == nil },
	})
	m.WatchQueues(w.tenant.Queues)
	m.WatchOutbox(w.tenant.Store)
}
