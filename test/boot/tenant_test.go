package boot

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
	"github.com/seed-7227ef26/async-worker/webhook/receiver"
)

// bed is a machine, its host, and the test of both.
type bed struct {
	*testing.T

	m *machine
	h *host
}

// step is a subtest on the same machine, and reports whether it passed. Its failure is its own: the next one can run.
func (b *bed) step(name string, do func(b *bed)) bool {
	return b.Run(name, func(t *testing.T) {
		whole := b.T
		defer func() { b.T, b.m.t, b.h.t = whole, whole, whole }()
		b.T, b.m.t, b.h.t = t, t, t
		do(b)
	})
}

// figure prints a measurement, for people and for grep.
func (b *bed) figure(format string, args ...any) {
	b.Helper()
	b.Logf("FIGURE "+format, args...)
}

// unit is the service of a tenant.
func unit(client string) string { return "async-worker@" + client + ".service" }

// add creates or changes a tenant as an operator does. more are added to the settings that lead to the host.
func (b *bed) add(client string, more map[string]string) {
	b.Helper()
	settings := b.settings(more)
	maps.Copy(settings, map[string]string{
		"AZURE_STORAGE_CONNECTION_STRING": "'" + b.h.azure + "'", "SUPABASE_KEY": b.h.supabase.TenantKey(b.T, client),
		"WEBHOOK_SECRET": receiver.Secret, "OPENAI_API_KEY": llmtest.Key,
	})
	b.m.pipe(lines(settings), "async-worker", "tenant", "add", client, "--force", "--env-file=-")
}

// spoil writes a tenant's settings by hand, unchecked.
func (b *bed) spoil(client string, more map[string]string) {
	b.Helper()
	file := "/etc/async-worker/" + client + ".env"
	b.m.write(file, lines(b.settings(more)), 0o640)
	b.m.run("chgrp", "async-worker", file) // as the package has them, for operators
}

func (b *bed) settings(more map[string]string) map[string]string {
	settings := map[string]string{
		"SUPABASE_URL": b.h.gate.URL, "OPENAI_BASE_URL": b.h.model.URL(), "WEBHOOK_ALLOW_CIDRS": "127.0.0.0/8",
		"POLL_MAX_MS": "500", "WORKER_LEASE_TTL_SEC": "10",
	}
	maps.Copy(settings, more)
	return settings
}

func lines(settings map[string]string) string {
	var s strings.Builder
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		fmt.Fprintf(&s, "%s=%s\n", name, settings[name])
	}
	return s.String()
}

// show is a property of a tenant's unit.
func (b *bed) show(client, property string) string {
	b.Helper()
	return b.m.run("systemctl", "show", "--value", "--property="+property, unit(client))
}

func (b *bed) number(client, property string) int {
	b.Helper()
	n, err := strconv.Atoi(b.show(client, property))
	if err != nil {
		b.Fatalf("%s of %s: %v", property, client, err)
	}
	return n
}

func (b *bed) pid(client string) int { return b.number(client, "MainPID") }

// awaitState waits until a property of a tenant's unit has a value.
func (b *bed) awaitState(client, property, want string) {
	b.Helper()
	b.eventually(fmt.Sprintf("%s of %s is %s", property, client, want), func() (string, bool) {
		got := b.show(client, property)
		return got, got == want
	})
}

// eventually polls until a condition holds.
func (b *bed) eventually(what string, look func() (string, bool)) {
	b.Helper()
	end := time.After(patience)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		seen, ok := look()
		if ok {
			return
		}
		select {
		case <-tick.C:
		case <-end:
			b.Fatalf("%s: not within %v; last seen: %s", what, patience, seen)
		}
	}
}

// journal has the messages of a tenant's unit in the journal, with more conditions if given.
func (b *bed) journal(client string, conditions ...string) string {
	b.Helper()
	b.m.run("journalctl", "--sync")
	out, err := b.m.try("journalctl", append([]string{
		"--quiet", "--no-pager", "--output=cat", "--unit=" + unit(client),
	}, conditions...)...)
	if err != nil && out != "" { // without an entry newer versions end with 1
		b.Fatalf("journalctl: %v\n%s", err, out)
	}
	return out
}

// contains fails the test for each text that is missing.
func (b *bed) contains(what, text string, want ...string) {
	b.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			b.Errorf("%s: %q is missing in:\n%s", what, w, tail(text, 40))
		}
	}
}
