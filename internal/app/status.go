package app

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/systemd"
)

// statusEvery is the shortest interval between updates of the status line.
const statusEvery = 3 * time.Second

// Health returns the engine's health.
func (w *Worker) Health() engine.Health { return w.engine.Health() }

// showStatus updates the line that `systemctl status` shows until ctx is done. Without systemd it does nothing.
func (w *Worker) showStatus(ctx context.Context) {
	var n systemd.Notifier
	if !n.Present() {
		return
	}
	err := showChanges(ctx, func() string { return StatusLine(w.Health()) },
		func(line string) error { return n.Status("%s", line) })
	if err != nil {
		w.tenant.log.Warn("can't notify systemd; its status line is no longer updated", "error", err)
	}
}

// showChanges shows each new line until ctx is done or show fails.
func showChanges(ctx context.Context, line func() string, show func(string) error) error {
	ticker := time.NewTicker(statusEvery)
	defer ticker.Stop()
	for shown := ""; ; {
		if now := line(); now != shown {
			if err := show(now); err != nil {
				return err
			}
			shown = now
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// StatusLine describes a worker in one line: its work first, then the problems, the worst first.
func StatusLine(h engine.Health) string {
	var wrong []string
	degraded := false
	if h.Store != nil {
		degraded = true
		wrong = append(wrong, database(h))
	}
	for _, q := range h.Queues {
		if q.Trouble != nil {
			degraded = true
			wrong = append(wrong, fmt.Sprintf("can't receive from %s since %s%s", q.Name, clock(h.At, q.Trouble.Since),
				because(q.Trouble)))
		}
	}
	for _, d := range h.Dependencies {
		if d.Down() {
			wrong = append(wrong, fmt.Sprintf("%s down since %s (breaker %s)", d.Name, clock(h.At, d.Since), d.State))
		}
	}
	for _, t := range h.Types {
		if t.Limit < h.Slots {
			wrong = append(wrong, fmt.Sprintf("%s limited to %d of %d at a time%s", t.Type, t.Limit, h.Slots,
				because(t.Trouble)))
		} else if t.Trouble != nil {
			wrong = append(wrong, fmt.Sprintf("%s fails since %s%s", t.Type, clock(h.At, t.Trouble.Since),
				because(t.Trouble)))
		}
	}
	for _, l := range h.Stuck {
		degraded = true
		wrong = append([]string{fmt.Sprintf("%s has been stuck since %s", l.Name, clock(h.At, l.Due))}, wrong...)
	}
	if degraded && !h.Draining {
		return "degraded: " + strings.Join(append(wrong, doing(h)), "; ")
	}
	return strings.Join(append([]string{doing(h)}, wrong...), "; ")
}

// doing describes the work: "idle, 3 done, 0 failed", "working on 2 of 4, …", "draining 2 of 4, oldest 42 s".
func doing(h engine.Health) string {
	if h.Draining {
		line := fmt.Sprintf("draining %d of %d", h.Running, max(h.DrainOf, h.Running))
		if h.Oldest != nil {
			line += ", oldest " + age(h.At.Sub(*h.Oldest))
		}
		return line
	}
	line := "idle"
	if h.Running > 0 {
		line = fmt.Sprintf("working on %d of %d", h.Running, h.Slots)
	}
	return fmt.Sprintf("%s, %d done, %d failed", line, h.Done, h.Failed)
}

// age formats a duration for people: "42 s", "7 min 2 s", "3 h 5 min".
func age(d time.Duration) string {
	s := max(0, int(d.Seconds()))
	switch {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return fmt.Sprintf("%d min %d s", s/60, s%60)
	default:
		return fmt.Sprintf("%d h %d min", s/3600, s%3600/60)
	}
}

func database(h engine.Health) string {
	trouble, why := "has not answered", ""
	if h.Store.Refuses() {
		trouble, why = "has refused the worker", because(&h.Store.Trouble)
	}
	return fmt.Sprintf("the database %s since %s%s; messages wait, no attempt is counted", trouble,
		clock(h.At, h.Store.Since), why)
}

func because(t *engine.Trouble) string {
	switch {
	case t == nil:
		return ""
	case t.Hint == "":
		return fmt.Sprintf(" (%s)", t.Class)
	default:
		return fmt.Sprintf(" (%s: %s)", t.Class, t.Hint)
	}
}

// clock formats a time of today as hours and minutes, of another day with its date.
func clock(now, t time.Time) string {
	if y, d := now.Year(), now.YearDay(); y == t.Year() && d == t.YearDay() {
		return t.Format("15:04")
	}
	return t.Format("2006-01-02 15:04")
}
