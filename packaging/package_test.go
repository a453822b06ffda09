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

// unpack reads the package that the variable PACKAGE names. To build one compiles all of the program again, which is
// too much for every change: make deb-check does it.
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
		"usr/lib/systemd/system/async-worker.target", "usr/lib/systemd/system/async-worker-front.service",
		"usr/share/man/man1/async-worker-front.1.gz", "usr/share/man/man8/async-worker-front.service.8.gz",
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
			t.Errorf("%s is not a conffile: an upgrade would overwrite it", name)
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
