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
	src             config.Sources
	log             *slog.Logger
	cfg             *config.Config                             // in force; changed when a reload succeeds
	adopt           func(context.Context, config.Config) error // takes over settings, all or nothing
	notifyReloading func() error                               // tells systemd
	notifyReady     func() error
}

// reload reads the settings again, from the command reload when one waits with a new environment, and takes them over.
// When they are wrong, or can't be taken over, the old ones stay.
func (r *reloader) reload(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, reloadTimeout)
	defer cancel()
	r.logNotify(r.notifyReloading())
	src := r.src
	conn, environ := r.ask(ctx)
	if conn != nil {
		defer conn.Close()
		src.Environ = config.Overlay(src.Environ, environ)
	}
	answer := r.apply(ctx, src)
	r.logNotify(r.notifyReady()) // before the answer: systemd then sees the end of the reload before that of its command
	if conn == nil {
		return
	}
	if err := json.NewEncoder(conn).Encode(answer); err != nil {
		r.log.Warn("the command reload does not hear what came of it", "error", err)
	}
}

// apply validates first and changes then.
func (r *reloader) apply(ctx context.Context, src config.Sources) reloadAnswer {
	next, changes, err := config.Reload(src, config.All, *r.cfg)
	if wrong, ok := errors.AsType[*config.Errors](err); ok {
		for _, p := range wrong.Problems {
			r.log.Error("the new settings are refused, the old ones stay", event.Key, event.SettingsRefused, "setting",
				p.Name, "problem", p.Problem, "remedy", p.Remedy)
		}
		return reloadAnswer{Problems: wrong.Problems}
	}
	if err == nil && len(changes.Live) > 0 {
		err = r.adopt(ctx, next)
	}
	if err != nil {
		r.log.Error("the new settings can't be taken over, the old ones stay", event.Key, event.SettingsRefused,
			"error", err)
		return reloadAnswer{Error: err.Error()}
	}
	*r.cfg = next
	for _, w := range next.Warnings() {
		r.log.Warn("a setting deserves a look", "setting", w.Name, "problem", w.Problem, "remedy", w.Remedy)
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

// ask connects to the command reload, if it waits, and reads the new environment.
func (r *reloader) ask(ctx context.Context) (net.Conn, []string) {
	if r.cfg.RuntimeDir == "" {
		return nil, nil
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(r.cfg.RuntimeDir, reloadSocket))
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ECONNREFUSED) {
			r.log.Warn("can't ask the command reload for new settings; reading files again", "error", err)
		}
		return nil, nil
	}
	var request reloadRequest
	if err = conn.SetDeadline(time.Now().Add(reloadTimeout)); err == nil {
		err = json.NewDecoder(conn).Decode(&request)
	}
	if err != nil {
		r.log.Warn("the command reload gave no settings; reading files again", "error", err)
		_ = conn.Close()
		return nil, nil
	}
	return conn, request.Environ
}

func (r *reloader) logNotify(err error) {
	if err != nil {
		r.log.Warn("systemd was not told", "error", err)
	}
}
