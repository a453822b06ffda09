package app

import (
	"context"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/dashboard"
	"github.com/seed-7227ef26/async-worker/internal/doctor"
	"github.com/seed-7227ef26/async-worker/internal/httpd"
)

// openDashboard makes the pages of the tenant, over its HTTP API.
func (w *Worker) openDashboard() *dashboard.Dashboard {
	c := w.tenant.Config
	return dashboard.New(dashboard.Deps{
		ClientID: c.ClientID, Version: Version, API: w.api, Health: w.shownHealth, Settings: w.shownSettings,
		Examine: w.examine, Log: w.tenant.log,
	})
}

// shownHealth is the worker's state as the dashboard shows it.
func (w *Worker) shownHealth() dashboard.Health {
	h := w.Health()
	checks := readiness(h, w.started)
	shown := dashboard.Health{
		Worker: w.tenant.worker, Started: w.started, Line: StatusLine(h), Ready: httpd.Passes(checks), Running: h.Running,
		Slots: h.Slots,
	}
	for _, c := range checks {
		if c.State == httpd.Failed {
			shown.Troubles = append(shown.Troubles, dashboard.Trouble{Name: c.Name, Since: c.Since, Hint: c.Hint})
		}
	}
	for _, d := range h.Dependencies {
		one := dashboard.Dependency{Name: strings.ReplaceAll(string(d.Name), "_", " "), State: d.State, Since: d.Since}
		if d.Trouble != nil {
			one.Hint = d.Trouble.Hint
		}
		shown.Dependencies = append(shown.Dependencies, one)
	}
	return shown
}

// shownSettings are the worker's settings by subject; those that a reload has changed, as they are now.
func (w *Worker) shownSettings() []dashboard.Setting {
	c := w.current.Load().Config
	values := map[string]config.Row{}
	for _, row := range c.Effective() {
		values[row.Name] = row
	}
	var shown []dashboard.Setting
	for _, subject := range config.Subjects() {
		for _, s := range config.Settings() {
			if row, ok := values[s.Name]; ok && s.Subject() == subject {
				shown = append(shown, dashboard.Setting{
					Subject: subject, Name: s.Name, Value: row.Value, Origin: row.Origin, Help: s.Help,
				})
			}
		}
	}
	return shown
}

// examine runs the doctor with the worker's settings, as they are now. It creates nothing; the tenant's files are
// root's, who has the command for them.
func (w *Worker) examine(ctx context.Context) (checks []dashboard.Check) {
	report := Doctor(ctx, DoctorOptions{
		Load:     func(config.Group) (config.Config, error) { return w.current.Load().Config, nil },
		Skip:     []doctor.Group{doctor.Unit},
		NoCreate: true,
	})
	for _, r := range report.Results {
		checks = append(checks, dashboard.Check{
			Name: r.Check, State: string(r.State), Seen: r.Seen, Remedy: r.Remedy,
		})
	}
	return checks
}
