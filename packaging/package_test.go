// Package packaging holds what makes the Debian packages: packaging/build is the script, and this test looks at what
// comes of it, and at its parts.
package packaging

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/config"
)

// entry is a file of the package.
type entry struct {
	mode  int64
	owner string
	body  []byte
}

// unpack reads the package that the variable PACKAGE names. To build one compiles all of the program anew, which is too
// much for every change: make deb-check does it.
func unpack(t *testing.T) (data, control map[string]entry) {
	t.Helper()
	deb := os.Getenv("PACKAGE")
	if deb == "" {
		t.Skip("PACKAGE names no package; make deb-check builds one and looks at it")
	}
	return untar(t, command(t, "dpkg-deb", "--fsys-tarfile", deb)),
		untar(t, command(t, "dpkg-deb", "--ctrl-tarfile", deb))
}

func command(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	var out, problems bytes.Buffer
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, problems.String())
	}
	return out.Bytes()
}

func untar(t *testing.T, raw []byte) map[string]entry {
	t.Helper()
	out := map[string]entry{}
	for r := tar.NewReader(bytes.NewReader(raw)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		out[path.Clean(h.Name)] = entry{h.Mode, h.Uname + ":" + h.Gname, body}
	}
}

func TestPackage(t *testing.T) {
	t.Parallel()
	data, control := unpack(t)
	const doc = "usr/share/doc/async-worker/"
	for _, file := range []string{
		"usr/bin/async-worker", "usr/lib/systemd/system/async-worker@.service",
		"usr/lib/systemd/system/async-worker.target",
		"usr/lib/systemd/catalog/async-worker.catalog", "usr/lib/sysusers.d/async-worker.conf",
		"usr/lib/tmpfiles.d/async-worker.conf",
		"etc/default/async-worker", "usr/share/bash-completion/completions/async-worker",
		"usr/share/zsh/vendor-completions/_async-worker",
		"usr/share/fish/vendor_completions.d/async-worker.fish", "usr/share/man/man1/async-worker.1.gz",
		"usr/share/man/man1/async-worker-tenant-add.1.gz", "usr/share/man/man5/async-worker.env.5.gz",
		"usr/share/man/man8/async-worker@.service.8.gz", doc + "copyright", doc + "changelog.gz",
		doc + "changelog.Debian.gz",
		doc + "sbom.cdx.json.gz", doc + "third-party-notices.gz", doc + "examples/tenant.env",
		doc + "examples/prometheus/async-worker.rules.yml",
	} {
		if _, ok := data[file]; !ok {
			t.Errorf("%s is not in the package", file)
		}
	}
	for name, e := range data {
		want := int64(0o644)
		if len(e.body) == 0 || name == "usr/bin/async-worker" {
			want = 0o755
		}
		if e.mode&0o7777 != want || e.owner != "root:root" {
			t.Errorf("%s is %o %s, want %o root:root", name, e.mode, e.owner, want)
		}
		if strings.HasPrefix(name, "etc/") && len(e.body) > 0 &&
			!slices.Contains(strings.Fields(string(control["conffiles"].body)), "/"+name) {
			t.Errorf("%s is no conffile: an upgrade would write it over", name)
		}
	}
	for _, script := range []string{"postinst", "prerm", "postrm"} {
		if control[script].mode&0o7777 != 0o755 {
			t.Errorf("%s has the mode %o", script, control[script].mode)
		}
	}
	if c := string(control["control"].body); !strings.Contains(c, "\nArchitecture: amd64\n") ||
		regexp.MustCompile(`@[A-Z]+@`).MatchString(c) {
		t.Errorf("control: %s", c)
	}
	linksLead(t, data)
	commandsHavePages(t, data)
	envHasEverySetting(t, string(data[doc+"examples/tenant.env"].body))
}

// commandsHavePages walks the help of the packaged program.
func commandsHavePages(t *testing.T, data map[string]entry) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "async-worker")
	if err := os.WriteFile(program, data["usr/bin/async-worker"].body, 0o755); err != nil {
		t.Fatal(err)
	}
	if v := string(command(t, program, "version")); !strings.Contains(v, " commit ") {
		t.Errorf("version: %s", v)
	}
	listed := regexp.MustCompile(`(?m)^  ([a-z][a-z-]*) {2,}`)
	var walk func(names ...string)
	walk = func(names ...string) {
		page := "usr/share/man/man1/" + strings.Join(append([]string{"async-worker"}, names...), "-") + ".1.gz"
		if _, ok := data[page]; !ok {
			t.Errorf("%s is not in the package", page)
		}
		help := string(command(t, program, append(names, "--help")...))
		_, list, ok := strings.Cut(help, " COMMAND\n")
		if !ok {
			return
		}
		list, _, _ = strings.Cut(list, "\nFlags:\n")
		for _, m := range listed.FindAllStringSubmatch(list, -1) {
			if m[1] != "help" && m[1] != "async-worker" { // an example
				walk(append(slices.Clone(names), m[1])...)
			}
		}
	}
	walk()
}

func envHasEverySetting(t *testing.T, env string) {
	t.Helper()
	for _, s := range config.Settings() {
		if strings.Count(env, "\n#"+s.Name+"=") != 1 {
			t.Errorf("%s is not in the example once", s.Name)
		}
	}
	for line := range strings.Lines(env) {
		if !strings.HasPrefix(line, "#") && strings.TrimSpace(line) != "" {
			t.Errorf("the example sets something: %s", line)
		}
	}
}

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

// A step in a log tells nothing of its way while it goes well, and loses nothing of what a failure said.
func TestStep(t *testing.T) {
	t.Parallel()
	if out := command(t, "../dev/step", "the step", "echo", "progress"); bytes.Contains(out, []byte("progress")) {
		t.Errorf("a step that went well says %s", out)
	}
	said := regexp.MustCompile(`^the step: failed after \d+ s, with exit code 7\nfound\nwrong\n$`)
	var out, problems bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "../dev/step", "the step", "sh", "-c", "echo found; echo wrong >&2; exit 7")
	cmd.Stdout, cmd.Stderr = &out, &problems
	err := cmd.Run()
	failed, ok := errors.AsType[*exec.ExitError](err)
	if !ok || failed.ExitCode() != 7 || out.Len() > 0 || !said.MatchString(problems.String()) {
		t.Errorf("%v, %q, %q", err, out.String(), problems.String())
	}
}
