package dashboard

import (
	"net/http"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/api"
)

// settingGroup is the settings of a subject.
type settingGroup struct {
	Subject  string
	Settings []Setting
}

// settingsPage is what the page of settings shows.
type settingsPage struct {
	All    bool // also those that have their default
	Groups []settingGroup
}

func (p *page) settings() error {
	v := settingsPage{All: p.r.URL.Query().Get("all") != ""}
	for _, s := range p.d.deps.Settings() {
		if !v.All && s.Origin == "default" {
			continue
		}
		if n := len(v.Groups); n == 0 || v.Groups[n-1].Subject != s.Subject {
			v.Groups = append(v.Groups, settingGroup{Subject: s.Subject})
		}
		g := &v.Groups[len(v.Groups)-1]
		g.Settings = append(g.Settings, s)
	}
	return p.show("settings", "Settings", "settings", v)
}

// doctorPage is what the page of the doctor shows.
type doctorPage struct {
	Health Health
	Ran    bool
	At     time.Time
	Took   time.Duration
	Checks []Check
	Counts map[string]int
}

func (p *page) doctor() error {
	return p.show("doctor", "Doctor", "doctor", doctorPage{Health: p.d.deps.Health()})
}

// examine runs the doctor's checks: one run at a time.
func (p *page) examine() error {
	select {
	case p.d.examining <- struct{}{}:
		defer func() { <-p.d.examining }()
	default:
		return &api.Problem{
			Status: http.StatusConflict, Code: "BUSY", Detail: "Somebody else runs the checks. Try again in a minute.",
		}
	}
	ctx, cancel := p.long()
	defer cancel()
	v := doctorPage{Health: p.d.deps.Health(), Ran: true, At: time.Now(), Counts: map[string]int{}}
	v.Checks = p.d.deps.Examine(ctx)
	v.Took = time.Since(v.At)
	for _, c := range v.Checks {
		v.Counts[c.State]++
	}
	return p.show("doctor", "Doctor", "doctor", v)
}
