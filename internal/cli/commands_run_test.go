package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/stack"
)

// openFolder is one that everybody may enter, which those of tests are not, with the program in it.
func openFolder(t *testing.T) (folder, self string) {
	t.Helper()
	// Nobody but its owner may enter those of tests. Its path has always the same length, wherever temporary files go:
	// lines are broken where they are full.
	temp, err := stack.NewTempDir("/tmp", "async-worker-commands-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = temp.Remove() })
	folder = temp.Path
	test, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(test)
	if err != nil {
		t.Fatal(err)
	}
	self = filepath.Join(folder, "async-worker")
	if err := errors.Join(os.Chmod(folder, 0o755), os.WriteFile(self, program, 0o755)); err != nil {
		t.Fatal(err)
	}
	return folder, self
}

// outcome is how a command ended and what it said; nothing of one that went well, or that says what it finds.
type outcome struct {
	code int
	text string
}

// trial is a command in a circumstance, on a machine of its own.
type trial struct {
	bench
	circumstance

	at      services
	root    string
	command string
}

func (r trial) outcome(t *testing.T) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	args := strings.Fields(strings.ReplaceAll(r.command, "'", ""))
	if !slices.Contains([]string{"version", "migrate"}, args[0]) {
		args = append(args, "--root", r.root)
	}
	if r.command == "doctor" && r.at.patience > 0 {
		args = append(args, "--timeout", r.at.patience.String())
	}
	cmd := exec.CommandContext(ctx, r.self, args...)
	cmd.Env = append(r.environ(), asProgram+"=1", childPatience+"="+r.at.patience.String(), "PATH="+os.Getenv("PATH"), "HOME=/nonexistent", "GORACE="+os.Getenv("GORACE"))
	if args[0] == "tenant" && args[1] == "edit" {
		cmd.Stdin = r.terminal
	}
	cmd.Dir = r.root
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: r.user, Gid: r.user}}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if ctx.Err() != nil {
		t.Errorf("%s, %s: does not end within ten minutes", r.name, r.command)
	}
	code := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	} else if err != nil {
		t.Errorf("%s, %s: %v", r.name, r.command, err)
	}
	text := strings.ReplaceAll(out.String(), r.root, "")
	if r.at.patience > 0 { // that they are up is what the column is about, and not how fast
		text = aNotice.ReplaceAllString(text, "")
	}
	r.check(t, code, text)
	if code == 0 || r.command == "doctor" || r.command == "check-config" {
		text = ""
	}
	return outcome{code, plainly(text)}
}

// environ is what some commands get from who runs them.
func (r trial) environ() []string {
	switch {
	case r.command == "migrate" && len(r.tenants) > 0:
		return []string{"DATABASE_URL=" + r.at.owner}
	case r.command == "reload":
		return slices.Clone(r.at.reloads)
	case strings.HasPrefix(r.command, "tenant edit "):
		return []string{"EDITOR=true"}
	}
	return nil
}

func (r trial) check(t *testing.T, code int, text string) {
	t.Helper()
	for _, secret := range r.at.secrets {
		if strings.Contains(text, secret) {
			t.Errorf("%s, %s: a secret was printed", r.name, r.command)
		}
	}
	for line := range strings.Lines(text) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > maxHelpWidth {
			t.Errorf("%s, %s: a line of %d columns: %s", r.name, r.command, n, line)
		}
	}
	if code != 0 && !strings.Contains(text, "what to do:") && !strings.Contains(text, "remedy:") {
		t.Errorf("%s, %s: ends with %d and does not say what to do:\n%s", r.name, r.command, code, text)
	}
}

var (
	anAddress = regexp.MustCompile(`127\.0\.0\.1:[0-9]{5}|127\.100\.100\.1:1\b`)
	aDialed   = regexp.MustCompile(`service\.example \([0-9.]+\)`)
	aTime     = regexp.MustCompile(`\b[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+(Z|[+-][0-9:]+)?|\b[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?`)
	aUUID     = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	aLength   = regexp.MustCompile(`\b[0-9]+(\.[0-9]+)?(ms|µs|s)\b`)
	aNotice   = regexp.MustCompile(`(?m)^.* the database has not answered yet waited=.*\n`)
	aVersion  = regexp.MustCompile(`(?m)^(async-worker) .*$`)
)

// plainly leaves out of a text what is another the next time.
func plainly(text string) string {
	text = anAddress.ReplaceAllString(text, "service.example") // as long: lines are broken where they are full
	text = aDialed.ReplaceAllString(text, "service.example")
	text = aUUID.ReplaceAllString(text, "ID")
	text = aTime.ReplaceAllString(text, "TIME")
	text = aLength.ReplaceAllString(text, "N s")
	return aVersion.ReplaceAllString(text, "$1 VERSION")
}
