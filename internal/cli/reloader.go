package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/event"
)

// reloader is the daemon's side of a reload.
type reloader struct {
	src             *config.Sources // of what is in force, as cfg; changed when a reload succeeds
	log             *slog.Logger
	cfg             *config.Config
	adopt           func(context.Context, config.Config) error // applies settings, all or nothing
	notifyReloading func() error                               // of systemd
	notifyReady     func() error
}

// reload reads the settings again and applies them. If a reload command waits, it brings a new environment, which later
// reloads begin with. If the settings are wrong, can't be applied or don't come, the old ones stay.
func (r *reloader) reload(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, reloadTimeout)
	defer cancel()
	r.logNotify(r.notifyReloading())
	src := *r.src
	conn, environ, err := r.ask(ctx)
	if err != nil {
		r.log.Warn("the reload command sent no settings; the old ones stay in force", "error", err)
		r.logNotify(r.notifyReady())
		return
	}
	if conn != nil {
		defer conn.Close()
		src.Environ = config.Overlay(src.Environ, environ)
	}
	answer := r.apply(ctx, src)
	r.logNotify(r.notifyReady()) // before the answer: systemd must see the reload end before its command ends
	if conn == nil {
		return
	}
	if err := json.NewEncoder(conn).Encode(answer); err != nil {
		r.log.Warn("can't send the result to the reload command", "error", err)
	}
}

// apply validates before it changes anything.
func (r *reloader) apply(ctx context.Context, src config.Sources) reloadAnswer {
	next, changes, err := config.Reload(src, config.All, *r.cfg)
	if wrong, ok := errors.AsType[*config.Errors](err); ok {
		for _, p := range wrong.Problems {
			r.log.Error("the new settings are invalid; the old ones stay in force", event.Key, event.SettingsRefused,
				"setting", p.Name, "problem", p.Problem, "remedy", p.Remedy)
		}
		return reloadAnswer{Problems: wrong.Problems}
	}
	if err == nil && len(changes.Live) > 0 {
		err = r.adopt(ctx, next)
	}
	if err != nil {
		r.log.Error("the new settings can't be applied; the old ones stay in force", event.Key, event.SettingsRefused,
			"error", err)
		return reloadAnswer{Error: err.Error()}
	}
	*r.cfg, *r.src = next, src
	for _, w := range next.Warnings() {
		r.log.Warn("check this setting", "setting", w.Name, "problem", w.Problem, "remedy", w.Remedy)
	}
	level := slog.LevelInfo
	if len(changes.Restart) > 0 {
		level = slog.LevelWarn
	}
	r.log.Log(ctx, level, "settings reloaded", event.Key, event.SettingsApplied, "changed", namesOrNone(changes.Live),
		"restart", namesOrNone(changes.Restart))
	return reloadAnswer{Changes: changes}
}

func namesOrNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ",")
}

// ask connects to a waiting reload command and reads the new environment; nil and no error: none waits.
func (r *reloader) ask(ctx context.Context) (net.Conn, []string, error) {
	if r.cfg.RuntimeDir == "" {
		return nil, nil, nil
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(r.cfg.RuntimeDir, reloadSocket))
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ECONNREFUSED) {
			r.log.Warn("can't connect to the reload command for new settings; reading files again", "error", err)
		}
		return nil, nil, nil
	}
	var request reloadRequest
	if err = conn.SetDeadline(time.Now().Add(reloadTimeout)); err == nil {
		err = json.NewDecoder(conn).Decode(&request)
	}
	if err != nil {
		return nil, nil, errors.Join(unexpectedEOF(err), conn.Close())
	}
	return conn, request.Environ, nil
}

func (r *reloader) logNotify(err error) {
	if err != nil {
		r.log.Warn("can't notify systemd", "error", err)
	}
}
