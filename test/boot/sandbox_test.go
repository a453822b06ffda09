package boot

import (
	"regexp"
	"strconv"
	"strings"
)

// sandbox checks the workers' users, and what they can't reach.
func sandbox(b *bed) {
	uids := map[string]string{}
	for _, client := range tenants() {
		pid := strconv.Itoa(b.pid(client))
		uids[client] = b.m.run("stat", "--format=%u", "/proc/"+pid)
		if name := b.m.run("stat", "--format=%U", "/proc/"+pid); name != "aw-"+client {
			b.Errorf("the user of %s is %s", client, name)
		}
		if got := b.show(client, "Type"); got != "notify" {
			b.Errorf("the type of %s is %s", client, got)
		}
	}
	if uids[south] == uids[east] || uids[south] == "0" || uids[east] == "0" {
		b.Errorf("the users are %v", uids)
	}
	b.figure("users: %v", uids)
	for i, client := range tenants() {
		private(b, client, tenants()[1-i])
	}
	for _, client := range tenants() {
		if output := b.journal(client); strings.Contains(output, "not fully confined") {
			b.Errorf("parsers of %s are not fully confined in the unit:\n%s", client, tail(output, 20))
		}
	}
	output := b.m.run("systemd-analyze", "security", "--no-pager", unit(south))
	score := regexp.MustCompile(`exposure level for \S+: ([0-9.]+)`).FindStringSubmatch(output)
	if score == nil {
		b.Fatalf("systemd-analyze security prints no level:\n%s", tail(output, 5))
	}
	if level, err := strconv.ParseFloat(score[1], 64); err != nil || level > 1.5 {
		b.Errorf("the exposure level is %s, want at most 1.5\n%s", score[1], output)
	}
	b.figure("systemd-analyze security: %s", score[1])
}

// private fails the test if a worker can read anything of another tenant, or write to the system.
func private(b *bed, client, other string) {
	b.Helper()
	pid := strconv.Itoa(b.pid(client))
	uid := b.m.run("stat", "--format=%u", "/proc/"+pid)
	as := func(args ...string) (string, error) { // as the worker, in its namespaces
		return b.m.try("nsenter", append([]string{
			"--target", pid, "--mount", "--", "setpriv", "--reuid", uid, "--regid", uid, "--clear-groups", "--",
		}, args...)...)
	}
	credentials := func(client string) string { return "/run/credentials/" + unit(client) + "/tenant_SUPABASE_KEY" }
	if out, err := as("cat", credentials(client)); err != nil || !strings.Contains(out, ".") {
		b.Errorf("%s can't read its own credentials: %v, %s", client, err, out)
	}
	for _, dir := range []string{"/var/lib/async-worker/", "/var/cache/async-worker/", "/run/async-worker/"} {
		if out, err := as("touch", dir+client+"/mine"); err != nil {
			b.Errorf("%s can't write to its own folder: %s", client, out)
		}
	}
	for _, path := range []string{
		"/etc/async-worker/" + other + ".env", "/etc/async-worker/credentials/" + other + "/SUPABASE_KEY",
		credentials(other),
		"/var/lib/private/async-worker/" + other, "/var/cache/private/async-worker/" + other,
		"/run/async-worker/" + other,
		"/proc/" + strconv.Itoa(b.pid(other)) + "/environ",
	} {
		b.m.run("ls", "-d", path) // it exists, for root
		// `find` lists a folder but reads only a file's entry; `cat` reads the file.
		for _, read := range [][]string{{"cat", path}, {"find", path, "-mindepth", "1"}} {
			if out, err := as(read...); err == nil || !regexp.MustCompile("Permission denied|No such file").
				MatchString(out) {
				b.Errorf("%s can read %s of %s: %s", client, path, other, out)
			}
			if strings.HasSuffix(path, ".env") || strings.HasSuffix(path, "KEY") || strings.HasSuffix(path, "environ") {
				break // a file
			}
		}
	}
	if out, err := as("async-worker", "status", "--socket", "/run/async-worker/"+other+"/http.sock"); err == nil ||
		!strings.Contains(out, "403") {
		b.Errorf("%s can reach the worker of %s: %s", client, other, out)
	}
	for _, path := range []string{"/etc/async-worker/new", "/usr/bin/new", "/var/lib/new", "/root/new"} {
		if out, err := as("touch", path); err == nil {
			b.Errorf("%s can write %s: %s", client, path, out)
		}
	}
}
