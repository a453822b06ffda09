package boot

import (
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
)

func TestMain(m *testing.M) {
	stacktest.Main(m, leaktest.Find)
}

// TestDebian runs the life of an installed worker on each Debian. The steps depend on each other: a tenant that one
// step adds is used in the next.
func TestDebian(t *testing.T) {
	dir := t.TempDir()
	for _, suite := range suites() {
		t.Run(suite, func(t *testing.T) {
			need(t, suite)
			made := packages(t, dir)
			b := &bed{T: t, m: boot(t, suite), h: newHost(t)}
			if !b.step("install", func(b *bed) { install(b, made) }) || !b.step("two tenants", twoTenants) {
				return // nothing else can work
			}
			b.step("documents", documents)
			b.step("commands", commands)
			b.step("sandbox", sandbox)
			b.step("people", people)
			b.step("modes", credentialModes)
			b.step("front", fronted)
			b.step("story", story)
			b.step("readiness", readiness)
			b.step("drain", drain)
			b.step("killed", killed)
			b.step("hung", hung)
			b.step("wrong settings", wrongSettings)
			b.step("reload", reload)
			b.step("upgrade", upgrade)
			b.step("reinstall", reinstall)
			b.step("reboot", reboot)
			b.step("idle", idle)
			b.step("fifty", fifty)
			b.step("purge", purge)
		})
	}
}
