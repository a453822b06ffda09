package boot

import (
	"strconv"
	"strings"
)

const (
	readers   = "async-worker"
	operators = "async-worker-operators"
	// remedy is part of the error for users who may not do what operators may.
	remedy = "of the groups " + readers + " and " + operators
)

// people: a member of both groups of the package may use every tenant's settings and credentials; a member of one group
// or none gets the remedy; and only root changes a tenant.
func people(b *bed) {
	b.m.run("useradd", "--groups", readers+","+operators, "alice")
	b.m.run("useradd", "--groups", readers, "rita")
	b.m.run("useradd", "--groups", operators, "olaf")
	b.m.run("useradd", "nadia")
	operates(b, "alice")
	for _, who := range []string{"rita", "olaf", "nadia"} {
		for _, line := range []string{
			"jobs list --tenant southhaven", "check-config --tenant southhaven",
			"token sign --role reader --tenant southhaven",
		} {
			b.refused(who, line, remedy)
		}
		_, err := b.as(who, "cat", "/etc/async-worker/credentials/"+south+"/SUPABASE_KEY")
		if err == nil {
			b.Errorf("%s reads a credential", who)
		}
	}
	if out, err := b.as("olaf", "async-worker", "status", "--all"); err != nil {
		b.Errorf("olaf: status --all: %v, %s", err, out)
	}
	b.refused("rita", "status --tenant southhaven", remedy)
	b.refused("nadia", "status --socket /run/async-worker/southhaven/http.sock", remedy)
	for _, line := range []string{
		"tenant add southhaven --force --log-level debug", "tenant add westhaven --llm-provider offline",
		"tenant edit southhaven",
		"tenant remove southhaven --yes --stop",
	} {
		b.refused("alice", line, "only root changes a tenant")
	}
	if out, err := b.as("alice", "touch", "/etc/async-worker/credentials/"+south+"/NEW"); err == nil {
		b.Errorf("an operator writes a credential: %s", out)
	}
	b.figure("operators: 12 commands for a tenant as a member of both groups; 77 and the remedy for a member of one " +
		"or none; no change but by root")
}

// operates fails the test unless a user can do an operator's work.
func operates(b *bed, who string) {
	b.Helper()
	for _, c := range []struct{ line, want string }{
		{"status --tenant southhaven", "southhaven  ready"},
		{"status --all", east},
		{"check-config --tenant southhaven", "The settings are fine."},
		{"doctor --tenant southhaven --timeout 20s", " 0 failed"},
		{"jobs list --tenant southhaven", "succeeded"},
		{"jobs list --tenant east-bay", "succeeded"},
		{"dlq list --tenant southhaven", "TRIES"},
		{"documents list --tenant southhaven", "handbook.pdf"},
		{"search harbour --tenant southhaven", "handbook.pdf"},
		{"queue --tenant southhaven", "southhaven-tasks-deadletter"},
		{"enqueue --tenant east-bay --type ingest --filename first-east-bay.txt --document-set boot --force --id by-" +
			who, "by-" + who},
		{"tenant list", "SUPABASE_KEY"},
	} {
		out, err := b.as(who, "async-worker", strings.Fields(c.line)...)
		if err != nil {
			b.Errorf("%s: %s: %v", who, c.line, err)
		}
		b.contains(who+": "+c.line, out, c.want)
	}
}

// as runs a program as a user.
func (b *bed) as(who, program string, args ...string) (string, error) {
	b.Helper()
	return b.m.try("runuser", append([]string{"--user", who, "--", program}, args...)...)
}

// refused wants a command to exit with 77, and to print the remedy.
func (b *bed) refused(who, line, want string) {
	b.Helper()
	// Joined to one line: line breaks may be anywhere.
	output := strings.Join(strings.Fields(b.m.run("/bin/sh", "-c",
		"runuser --user "+who+" -- async-worker "+line+` 2>&1; echo "exit $?"`)), " ")
	b.contains(who+": "+line, output, want, "exit 77")
}

// credentialModes are those of the package and of tenant add, which no start of a worker changes.
func credentialModes(b *bed) {
	modes(b)
	b.m.run("systemctl", "restart", unit(south))
	b.awaitState(south, "ActiveState", "active")
	modes(b)
	if output := b.journal(south); strings.Contains(output, "mode is different") {
		b.Errorf("systemd warns about a mode:\n%s", tail(output, 20))
	}
	gid := b.m.run("stat", "--format=%g", "/etc/async-worker/credentials")
	for _, client := range tenants() {
		status := b.m.run("cat", "/proc/"+strconv.Itoa(b.pid(client))+"/status")
		for line := range strings.Lines(status) {
			if f := strings.Fields(line); len(f) > 0 && (f[0] == "Gid:" || f[0] == "Groups:") &&
				strings.Contains(" "+strings.Join(f[1:], " ")+" ", " "+gid+" ") {
				b.Errorf("the worker of %s is an operator: %s", client, line)
			}
		}
	}
	// Made by hand, with root's umask: the folder above makes it the operators', and keeps everybody else out.
	b.m.run("/bin/sh", "-c", "umask 022 && cd /etc/async-worker/credentials && mkdir byhand && echo secret "+
		">byhand/WEBHOOK_SECRET")
	if out, err := b.as("alice", "cat", "/etc/async-worker/credentials/byhand/WEBHOOK_SECRET"); err != nil ||
		out != "secret" {
		b.Errorf("an operator can't read what was made by hand: %s", out)
	}
	if out, err := b.as("rita", "cat", "/etc/async-worker/credentials/byhand/WEBHOOK_SECRET"); err == nil {
		b.Errorf("others can read what was made by hand: %s", out)
	}
	b.m.run("rm", "-r", "/etc/async-worker/credentials/byhand")
	b.figure("modes: as the package makes them before and after a restart, and made by hand; no worker is in the group")
}

func modes(b *bed) {
	b.Helper()
	for path, want := range map[string]string{
		"/etc/async-worker":                                        "750 root:" + readers,
		"/etc/async-worker/" + south + ".env":                      "640 root:" + readers,
		"/etc/async-worker/credentials":                            "2750 root:" + operators,
		"/etc/async-worker/credentials/" + south:                   "2750 root:" + operators,
		"/etc/async-worker/credentials/" + south + "/SUPABASE_KEY": "640 root:" + operators,
		"/run/async-worker/" + south:                               "711 aw-" + south + ":aw-" + south,
		"/run/async-worker/" + south + "/http.sock":                "666 aw-" + south + ":aw-" + south,
	} {
		if got := b.m.run("stat", "--format=%a %U:%G", path); got != want {
			b.Errorf("%s is %s, want %s", path, got, want)
		}
	}
}

// former makes the credentials as the previous version of the package did, with changes of an administrator. It
// returns those that must stay as they are, with their mode and owner.
func former(b *bed) map[string]string {
	b.Helper()
	const dir = "/etc/async-worker/credentials"
	b.m.run("/bin/sh", "-ec", `cd `+dir+`
		chown -R root:root .
		find . -type d -exec chmod 00700 {} +
		find . -type f -exec chmod 0600 {} +
		mkdir -m 0750 kept; chgrp adm kept; install -m 0600 /dev/null kept/SECRET
		mkdir -m 0700 mixed; install -m 0600 /dev/null mixed/OURS
		install -m 0640 -g adm /dev/null mixed/THEIRS; ln -s /etc/shadow mixed/LINK; install -m 0600 /dev/null /root/twice; ln /root/twice mixed/TWICE`)
	stays := map[string]string{
		dir + "/kept": "", dir + "/kept/SECRET": "", dir + "/mixed/THEIRS": "", "/etc/shadow": "", "/root/twice": "",
	}
	for path := range stays {
		stays[path] = b.m.run("stat", "--format=%a %U:%G", path)
	}
	return stays
}

// tidy removes what former made.
func tidy(b *bed) {
	b.m.run("rm", "-rf", "/etc/async-worker/credentials/kept", "/etc/async-worker/credentials/mixed", "/root/twice")
}

// opened fails the test unless an upgrade has given the operators the credentials of the previous version, and
// nothing else.
func opened(b *bed, stays map[string]string) {
	b.Helper()
	const dir = "/etc/async-worker/credentials"
	modes(b)
	for path, was := range stays {
		if is := b.m.run("stat", "--format=%a %U:%G", path); is != was {
			b.Errorf("the upgrade made %s of %s, which was %s", is, path, was)
		}
	}
	if got := b.m.run("stat", "--format=%a %U:%G", dir+"/mixed/OURS"); got != "640 root:"+operators {
		b.Errorf("%s/mixed/OURS is %s", dir, got)
	}
}

// membersBefore: a group of that name with members belongs to somebody, and an upgrade gives it no credential.
func membersBefore(b *bed) {
	b.Helper()
	stays := former(b)
	secret := "/etc/async-worker/credentials/" + south + "/SUPABASE_KEY"
	stays[secret] = "600 root:root"
	output := b.m.run("/bin/sh", "-c", "/var/lib/dpkg/info/async-worker.postinst abort-upgrade 2>&1")
	b.contains("postinst", output, "has members already")
	for path, was := range stays {
		if is := b.m.run("stat", "--format=%a %U:%G", path); is != was {
			b.Errorf("with members in the group the upgrade made %s of %s, which was %s", is, path, was)
		}
	}
	tidy(b)
}
