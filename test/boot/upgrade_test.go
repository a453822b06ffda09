package boot

import (
	"fmt"
	"strings"
	"time"
)

// upgrade installs the next version during a task.
func upgrade(b *bed) {
	const task = 20 * time.Second
	membersBefore(b)
	b.m.run("groupdel", operators)
	stays := former(b)
	pid := b.pid(south)
	asked := b.h.hold(task)
	b.h.send(south, "upgraded", "ingest", "upgraded.txt", []byte("A ship that gets a new mast at sea."))
	b.h.await(asked, "the model is called")
	begun := time.Now()
	b.m.run("dpkg", "--install", "/root/async-worker_2.deb")
	took := time.Since(begun)
	if len(b.h.hooks.IDs("upgraded")) > 0 {
		b.Errorf("the task was over before dpkg was, after %v", took)
	}
	b.h.once(south, "upgraded", 1)
	for _, client := range tenants() {
		b.runs(client, "1.0.0-boot2")
	}
	if b.pid(south) == pid {
		b.Error("it is the same process")
	}
	opened(b, stays)
	tidy(b)
	b.m.run("usermod", "--append", "--groups", operators, "alice")
	operates(b, "alice")
	b.figure("upgrade in a task of %v: dpkg returned after %v, the task done once in its first attempt, the new "+
		"version runs", task, took.Round(100*time.Millisecond))
}

// runs waits until a tenant's worker is up in the installed version.
func (b *bed) runs(client, version string) {
	b.Helper()
	b.eventually(client+" runs "+version, func() (string, bool) {
		pid := b.pid(client)
		if pid == 0 || b.show(client, "ActiveState") != "active" {
			return b.show(client, "SubState"), false
		}
		file, err := b.m.try("readlink", fmt.Sprintf("/proc/%d/exe", pid))
		return file, err == nil && file == "/usr/bin/async-worker"
	})
	if got := b.m.run("async-worker", "version"); !strings.Contains(got, version) {
		b.Errorf("installed is %s, want %s", got, version)
	}
}

// reinstall removes the package and installs it again: the tenants stay unchanged.
func reinstall(b *bed) {
	b.m.run("systemctl", "enable", "--now", proxy)
	defer b.m.run("systemctl", "disable", "--now", proxy)
	b.m.run("apt-get", "remove", "--yes", "async-worker")
	for _, client := range tenants() {
		b.m.run("test", "-e", "/etc/async-worker/"+client+".env")
		if got := b.show(client, "ActiveState"); got != "inactive" && got != "failed" {
			b.Errorf("after the removal %s is %s", client, got)
		}
	}
	b.m.run("apt-get", "install", "--yes", "/root/async-worker_2.deb")
	for _, client := range tenants() {
		if got := b.m.run("systemctl", "is-enabled", unit(client)); got != "enabled" {
			b.Errorf("after remove and install %s is %s", client, got)
		}
	}
	b.eventually("the proxy is up again", func() (string, bool) {
		state, err := b.m.try("systemctl", "is-active", proxy)
		return state, err == nil
	})
	b.m.run("systemctl", "start", "async-worker.target")
	b.works("reinstalled")
	b.figure("remove and install: both tenants are enabled, and run with the target; the proxy runs")
}

// works runs a task of each tenant.
func (b *bed) works(id string) {
	b.Helper()
	for _, client := range tenants() {
		b.awaitState(client, "ActiveState", "active")
		id := id + "-" + client
		b.h.send(client, id, "ingest", id+".txt", []byte("What comes after "+id+"."))
		b.h.once(client, id, 1)
	}
}

// reboot restarts all tenants.
func reboot(b *bed) {
	begun := time.Now()
	b.m.reboot()
	b.works("rebooted")
	b.figure("reboot: both tenants back and at work after %v", time.Since(begun).Round(100*time.Millisecond))
}

// purge leaves nothing.
func purge(b *bed) {
	b.m.run("apt-get", "purge", "--yes", "async-worker")
	if left := b.m.run("find", "/etc", "/usr", "/var", "/run", "-xdev", "(", "-path", "/var/log", "-o", "-path",
		"/var/cache/apt", ")", "-prune", "-o",
		"-iname", "*async*worker*", "-print"); left != "" {
		b.Errorf("after purge these remain:\n%s", left)
	}
	if left, err := b.m.try("pgrep", "--list-full", "async-worker"); err == nil {
		b.Errorf("after purge these run:\n%s", left)
	}
	if left := b.m.run("systemctl", "list-units", "--all", "--plain", "--no-legend", "async-worker*"); left != "" {
		b.Errorf("after purge systemd knows:\n%s", left)
	}
	b.figure("purge: no file, process or unit remains")
}
