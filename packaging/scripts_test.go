package packaging

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestScripts(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"debian/postinst", "debian/prerm", "debian/postrm"} {
		command(t, "/bin/sh", "-n", script)
		raw, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(raw), "#!/bin/sh\nset -e\n") {
			t.Errorf("%s goes on after an error", script)
		}
	}
	for _, script := range []string{"build", "check", "container/check", "pages"} {
		command(t, "bash", "-n", script)
	}
}

// The groups and folders are the same whether systemd makes them or the script, no start of a worker changes them, and
// no worker is in a group that reads what is a tenant's.
func TestGroups(t *testing.T) {
	t.Parallel()
	read := func(file string) string {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	var groups []string
	for _, m := range regexp.MustCompile(`(?m)^g (\S+) -$`).FindAllStringSubmatch(read("debian/sysusers.conf"), -1) {
		groups = append(groups, m[1])
		if len(m[1]) > 31 {
			t.Errorf("the group %s has a name of %d characters, and useradd takes 31", m[1], len(m[1]))
		}
	}
	postinst, unit := read("debian/postinst"), read("../systemd/async-worker@.service")
	if all := "for group in " + strings.Join(groups, " ") + "; do"; len(groups) != 2 ||
		!strings.Contains(postinst, all) || !strings.Contains(read("debian/postrm"), all) {
		t.Errorf("postinst and postrm don't say: %s", all)
	}
	for _, m := range regexp.MustCompile(`(?m)^d (\S+) +(\d+) (\S+) +(\S+) +-$`).
		FindAllStringSubmatch(read("debian/tmpfiles.conf"), -1) {
		if line := "install -d -m " + m[2] + " -o " + m[3] + " -g " + m[4] + " " + m[1] +
			"\n"; !strings.Contains(postinst, line) {
			t.Errorf("postinst does not say: %s", line)
		}
		if strings.HasSuffix(m[1], "/credentials") && !strings.Contains(unit,
			"\nConfigurationDirectoryMode="+m[2]+"\n") {
			t.Errorf("the unit makes a tenant's folder of credentials with another mode than %s", m[2])
		}
	}
	if of := regexp.MustCompile(`(?m)^(Group|SupplementaryGroups)=.*$`).FindString(unit); of != "" {
		t.Errorf("the worker is in a group of others: %s", of)
	}
	const user = "async-worker-front"
	for file, want := range map[string]string{
		"debian/sysusers.conf": "\nu " + user + " - ", "debian/postinst": "useradd --system --user-group --no-create-home",
		"debian/postrm": "userdel " + user, "../systemd/async-worker-front.service": "\nUser=" + user + "\nGroup=" + user + "\n",
	} {
		if !strings.Contains(read(file), want) {
			t.Errorf("%s does not say: %s", file, want)
		}
	}
	if strings.Contains(read("../systemd/async-worker-front.service"), "SupplementaryGroups") {
		t.Error("the proxy is in a group of others")
	}
}

// An upgrade opens the credentials that the version before made, and nothing else; a second time it does nothing.
func TestUpgradeOpensCredentials(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("needs root, to give files to a group")
	}
	postinst, err := os.ReadFile("debian/postinst")
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "credentials")
	function := regexp.MustCompile(`(?s)\nopen_credentials\(\) \{.*?\n\}\n`).FindString(string(postinst))
	function = strings.NewReplacer("/etc/async-worker/credentials", folder, "async-worker-operators", "4711").
		Replace(function)
	command(t, "/bin/sh", "-ec", `umask 022; mkdir -m 0700 "$1"; cd "$1"
		mkdir -m 0700 south "by hand"; touch south/KEY "by hand/A KEY"; chmod 0600 south/KEY "by hand/A KEY"
		touch south/OPEN south/theirs south/more; chgrp 4712 south/theirs; chmod 0640 south/theirs south/OPEN; chmod 0400 south/more
		touch ../twice ../linked; chmod 0600 ../twice ../linked; ln ../twice south/twice; ln -s ../../linked south/linked
		mkdir -m 0750 kept; mkdir -m 0700 others; touch kept/KEY others/KEY; chmod 0600 kept/KEY others/KEY; chown 4713 others
		mkdir -m 0700 ../elsewhere; ln -s ../elsewhere link`, "sh", folder)
	look := func() string {
		return string(command(t, "/bin/sh", "-c",
			`cd "$1" && stat -c '%n %a %u:%g' . * */* ../twice ../linked ../elsewhere | grep -v ^l`, "sh", folder))
	}
	command(t, "/bin/sh", "-ec", function+"\nopen_credentials")
	want := `. 700 0:0
by hand 2750 0:4711
kept 750 0:0
others 700 4713:0
south 2750 0:4711
by hand/A KEY 640 0:4711
kept/KEY 600 0:0
others/KEY 600 0:0
south/KEY 640 0:4711
south/OPEN 640 0:0
south/linked 777 0:0
south/more 400 0:0
south/theirs 640 0:4712
south/twice 600 0:0
../twice 600 0:0
../linked 600 0:0
../elsewhere 700 0:0
`
	if got := look(); got != want {
		t.Errorf("after the upgrade:\n%s\nwant:\n%s", got, want)
	}
	// the package's; an administrator's
	command(t, "/bin/sh", "-ec", `chmod 02750 "$1"; chmod 00700 "$1/south"`, "sh", folder)
	want = look()
	command(t, "/bin/sh", "-ec", function+"\nopen_credentials")
	if got := look(); got != want {
		t.Errorf("after another upgrade:\n%s\nwant:\n%s", got, want)
	}
}

// The removal stopped the workers and the proxy: with a target that is down both start again, the proxy if it is enabled.
// An upgrade starts nothing that was stopped by hand.
func TestInstallStartsWhatTheRemovalStopped(t *testing.T) {
	t.Parallel()
	const target, front = "--no-block start async-worker.target\n", "--no-block start async-worker-front.service\n"
	for name, c := range map[string]struct{ active, disabled, want string }{
		"removed":            {"", "", target + front},
		"removed, no proxy":  {"", "async-worker-front.service", target},
		"removed, no target": {"", "async-worker.target", ""},
		"an upgrade":         {"async-worker.target", "", ""},
	} {
		script := "may() { :; }\n" + `systemctl() {
			case "$*" in
			"--quiet is-enabled $DISABLED") return 1 ;;
			"--quiet is-enabled "*) ;;
			"--quiet is-active "*) [ "$3" = "$ACTIVE" ] ;;
			"--no-block start "*) echo "$*" ;;
			esac
		}` + scriptFunction(t, "debian/postinst", "start") + "\nstart 1.0"
		cmd := exec.CommandContext(t.Context(), "/bin/sh", "-ec", strings.ReplaceAll(script, "/run/systemd/system", "/"))
		cmd.Env = []string{"ACTIVE=" + c.active, "DISABLED=" + c.disabled}
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != c.want {
			t.Errorf("%s: started %q, %v; want %q", name, out, err, c.want)
		}
	}
}

// A purge keeps documents in the state of a tenant, whatever is left of its settings; it removes state without documents.
func TestPurgeKeepsDocuments(t *testing.T) {
	t.Parallel()
	for file, kept := range map[string]bool{
		"var/lib/private/async-worker/south/blobs/a.pdf":                 true,
		"var/lib/private/async-worker/south/a.pdf":                       true,
		"var/lib/async-worker/by hand/a.pdf":                             true,
		"var/lib/private/async-worker/south/.unfinished-uploads/QWERTZ":  false,
		"var/lib/private/async-workers/a.pdf":                            false,
		"etc/async-worker/south.env":                                     false,
		"var/lib/private/async-worker/south/.unfinished-uploads.d/a.pdf": true,
	} {
		root := t.TempDir()
		function := strings.ReplaceAll(scriptFunction(t, "debian/postrm", "purge_state"), "/var/lib/", root+"/var/lib/")
		state := filepath.Join(root, "var/lib/private/async-worker/south")
		command(t, "/bin/sh", "-ec", `mkdir -p "$1/blobs" "$2" "$(dirname "$3")"; ln -s "$1" "$2/south"; touch "$3"`, "sh", state,
			filepath.Join(root, "var/lib/async-worker"), filepath.Join(root, file))
		out, err := exec.CommandContext(t.Context(), "/bin/sh", "-ec", function+"\npurge_state").CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", file, err, out)
		}
		if strings.Contains(string(out), root+"/var/lib/async-worker is kept") != kept {
			t.Errorf("%s: said %q; want it kept: %t", file, out, kept)
		}
		if _, err := os.Stat(state); (err == nil) != kept {
			t.Errorf("%s: the state: %v; want it kept: %t", file, err, kept)
		}
		if _, err := os.Stat(filepath.Join(root, file)); kept && err != nil {
			t.Error(err)
		}
	}
	function := strings.ReplaceAll(scriptFunction(t, "debian/postrm", "purge_state"), "/var/lib/", t.TempDir()+"/")
	if out := command(t, "/bin/sh", "-ec", function+"\npurge_state"); len(out) > 0 {
		t.Errorf("without any state: %q", out)
	}
}

// scriptFunction is the text of one function of a script.
func scriptFunction(t *testing.T, script, name string) string {
	t.Helper()
	raw, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`(?s)\n` + name + `\(\) \{.*?\n\}\n`).FindString(string(raw))
}

// A script that dpkg calls with words that are none of its own fails, and with those that mean nothing to it does
// nothing.
func TestScriptsKnowTheirArguments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		script, argument string
		fine             bool
	}{
		{"postinst", "frob", false},
		{"prerm", "frob", false},
		{"postrm", "frob", false},
		{"prerm", "upgrade", true},
		{"prerm", "deconfigure", true},
		{"postrm", "upgrade", true},
		{"postrm", "abort-install", true},
	} {
		err := exec.CommandContext(t.Context(), "/bin/sh", "debian/"+c.script, c.argument).Run()
		if (err == nil) != c.fine {
			t.Errorf("%s %s: %v", c.script, c.argument, err)
		}
	}
}

// A step in a log says what it begins, tells nothing of its way while it goes well, and loses nothing of what a failure said.
func TestStep(t *testing.T) {
	t.Parallel()
	fine := exec.CommandContext(t.Context(), "../dev/step", "the step", "echo", "progress")
	if out, err := fine.CombinedOutput(); err != nil || string(out) != "the step …\n" {
		t.Errorf("a step that went well says %q, %v", out, err)
	}
	said := regexp.MustCompile(`^the step …\nthe step: failed after \d+ s, with exit code 7\nfound\nwrong\n$`)
	var out, problems bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "../dev/step", "the step", "sh", "-c", "echo found; echo wrong >&2; exit 7")
	cmd.Stdout, cmd.Stderr = &out, &problems
	err := cmd.Run()
	failed, ok := errors.AsType[*exec.ExitError](err)
	if !ok || failed.ExitCode() != 7 || out.Len() > 0 || !said.MatchString(problems.String()) {
		t.Errorf("%v, %q, %q", err, out.String(), problems.String())
	}
}
