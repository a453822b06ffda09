package packaging

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// installDeps runs dev/install-test-deps.sh on a machine with some programs, each with the text of its script, and with the
// servers in a folder like /usr/lib/postgresql.
func installDeps(t *testing.T, what, servers string, programs map[string]string) (said string, err error) {
	t.Helper()
	bin := t.TempDir()
	for _, tool := range []string{"sh", "sed", "sort", "head", "tail", "tr", "id", "basename", "dirname", "mktemp", "rm"} {
		path, err := exec.LookPath(tool)
		if err == nil {
			err = os.Symlink(path, filepath.Join(bin, tool))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, script := range programs {
		file := filepath.Join(bin, name)
		if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "sh"), "../dev/install-test-deps.sh", what)
	cmd.Env = []string{"PATH=" + bin, "SERVERS=" + servers}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// readers are the programs that the worker reads documents with.
func readers() map[string]string {
	return map[string]string{"pdftotext": "", "pdftoppm": "", "tesseract": ""}
}

// server is a folder with a server of a version that no machine has, and so without pgvector.
func server(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	bin := filepath.Join(folder, "99", "bin")
	if err := errors.Join(os.MkdirAll(bin, 0o755), os.WriteFile(filepath.Join(bin, "initdb"), nil, 0o755)); err != nil {
		t.Fatal(err)
	}
	return folder
}

// What `make run BACKEND=postgres` demands: a server wherever it is, pgvector, poppler and tesseract; neither a browser
// nor Python. Without apt it only says what is missing.
func TestInstallsForPostgres(t *testing.T) {
	t.Parallel()
	const vector = "default_version = '0.8.1'\n"
	for name, c := range map[string]struct{ without, vector, says string }{
		"all is there": {vector: vector},
		"no tesseract": {without: "tesseract", vector: vector, says: "missing: tesseract-ocr ("},
		"no server":    {without: "initdb", vector: vector, says: "missing: postgresql ("},
		"old pgvector": {vector: "default_version = '0.7.4'\n", says: "missing: pgvector >= 0.8 for the PostgreSQL server ("},
		"no pgvector":  {without: "pg_config", vector: vector, says: "missing: pgvector >= 0.8 for the PostgreSQL server ("},
	} {
		share := t.TempDir()
		programs := readers()
		programs["initdb"], programs["pg_config"] = "", "echo '"+share+"'"
		delete(programs, c.without)
		if err := errors.Join(os.Mkdir(filepath.Join(share, "extension"), 0o755),
			os.WriteFile(filepath.Join(share, "extension", "vector.control"), []byte(c.vector), 0o644)); err != nil {
			t.Fatal(err)
		}
		said, err := installDeps(t, "postgres", t.TempDir(), programs)
		if err != nil || !strings.Contains(said, c.says) || c.says == "" && said != "" {
			t.Errorf("%s: %v, it says %q, want %q", name, err, said, c.says)
		}
	}
}

// go test -race wants a C compiler and the headers of the C library. `make run` does not.
func TestInstallsCompiler(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		what, compiler string
		missing        bool
	}{
		"no compiler":        {"test", "none", true},
		"no headers":         {"test", "exit 1", true},
		"a compiler":         {"test", "", false},
		"no compiler, boot":  {"boot", "none", true},
		"no compiler, a run": {"postgres", "none", false},
	} {
		programs := readers()
		maps.Copy(programs, map[string]string{"id": "echo 1000", "apt-get": "", "apt-cache": "exit 1", "python3": "", "gcc": c.compiler})
		if c.compiler == "none" {
			delete(programs, "gcc")
		}
		said, _ := installDeps(t, c.what, server(t), programs)
		if !strings.Contains(said, "missing: ") || strings.Contains(said, "gcc libc6-dev") != c.missing {
			t.Errorf("%s: it says %q; gcc is missing: %t", name, said, c.missing)
		}
	}
}

// Ubuntu 24.04 has pgvector 0.6, and apt no mirror of Debian there: only the tests end with an error. Both say what to do.
func TestOldPgvector(t *testing.T) {
	t.Parallel()
	const remedy = "for PostgreSQL 99 by hand: on Debian and Ubuntu it is postgresql-99-pgvector from https://apt.postgresql.org ("
	for what, c := range map[string]struct {
		loss string
		fine bool
	}{
		"postgres": {"Without it: below 0.7 BACKEND=postgres and BACKEND=nats do not start", true},
		"test":     {"Without it: the tests need it", false},
	} {
		programs := readers()
		maps.Copy(programs, map[string]string{
			"id": "echo 0", "python3": "", "gcc": "", "chromium": "", "apt-get": `case $1 in indextargets) echo "Ubuntu Ubuntu http://archive.ubuntu.com/ubuntu" ;; esac`,
			"apt-cache": `case $1 in policy) echo "  Candidate: 0.6.0-1" ;; esac`, "dpkg": "exit 1",
		})
		said, err := installDeps(t, what, server(t), programs)
		if (err == nil) != c.fine || !strings.Contains(said, remedy) || !strings.Contains(said, c.loss) {
			t.Errorf("%s: %v, it says %q; want %q and %q", what, err, said, remedy, c.loss)
		}
	}
}

// As root without a network `make run` starts, too, and says what it could not install.
func TestAptFails(t *testing.T) {
	t.Parallel()
	for what, fine := range map[string]bool{"run": true, "postgres": true, "test": false} {
		programs := map[string]string{"id": "echo 0", "apt-get": "echo no network >&2; exit 100", "apt-cache": ""}
		said, err := installDeps(t, what, t.TempDir(), programs)
		if (err == nil) != fine || !strings.Contains(said, "no network\ntest-deps: failed: apt update\n") {
			t.Errorf("%s: %v, it says %q", what, err, said)
		}
	}
}
