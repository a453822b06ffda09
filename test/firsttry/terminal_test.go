// Package firsttry uses the program as somebody does who has only its documents: each command is given to the
// program as typed, and its output is read.
package firsttry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

// widest is the longest line that a terminal shows without a break, in characters.
const widest = 120

// async is the program with much patience with services, and users the one that they have. Each is built once.
var async, users stacktest.Program

// patience ends what hangs. It is longer than a machine with many tests may hold a service up.
const patience = 5 * time.Minute

// terminal is a user's environment: the program, the services, and settings.
type terminal struct {
	*testing.T
	ctx     context.Context
	program string
	folder  string // the working folder
	env     map[string]string
}

func sitDown(t *testing.T) *terminal {
	t.Helper()
	program, err := async.Build(nil, "./test/firsttry/async-worker")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	t.Cleanup(cancel)
	d := &terminal{T: t, ctx: ctx, folder: t.TempDir(), program: program}
	client, database := stacktest.UniqueName("try"), stacktest.Postgres(t)
	api := stacktest.PostgREST(t, database)
	d.env = map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": d.folder, "TMPDIR": t.TempDir(), "CLIENT_ID": client,
		"AZURE_STORAGE_CONNECTION_STRING": stacktest.Azurite(t), "SUPABASE_URL": api.URL,
		"SUPABASE_KEY": api.TenantKey(t, client),
		"LLM_PROVIDER": "offline", "WEBHOOK_ALLOW_CIDRS": "127.0.0.0/8", "POLL_MAX_MS": "200", "LOG_FORMAT": "text",
		"HTTP_ADDR": free(t),
	}
	return d
}

// free is an address without a listener.
func free(t *testing.T) string {
	t.Helper()
	port, err := stack.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("127.0.0.1:%d", port)
}

func (d *terminal) environ(changes []string) (all []string) {
	env := map[string]string{}
	maps.Copy(env, d.env)
	for _, c := range changes {
		name, value, _ := strings.Cut(c, "=")
		env[name] = value
	}
	for name, value := range env {
		all = append(all, name+"="+value)
	}
	return all
}

// answer is what a command printed, on both streams, and its exit code.
type answer struct {
	d     *terminal
	typed string
	text  string
	code  int
}

// words splits a command line; a part in single quotes is one word.
var words = regexp.MustCompile(`'([^']*)'|(\S+)`)

// record is a line of a log, written for the journal.
var record = regexp.MustCompile(`^\d\d:\d\d:\d\d (INF|ERR) `)

// quoted is a line of JSON, whose texts can't be broken.
var quoted = regexp.MustCompile(`^ +"`)

// arguments are those of a command as typed.
func (d *terminal) arguments(line string) (args []string) {
	d.Helper()
	for _, m := range words.FindAllStringSubmatch(line, -1) {
		args = append(args, m[1]+m[2])
	}
	if args[0] != "async-worker" {
		d.Fatalf("%s is not our program", line)
	}
	return args[1:]
}

// run runs a command as typed, with changed settings.
func (d *terminal) run(line string, settings ...string) *answer {
	d.Helper()
	return d.pipe("", line, settings...)
}

// pipe is run with a text on standard input.
func (d *terminal) pipe(text, line string, settings ...string) *answer {
	d.Helper()
	cmd := exec.CommandContext(d.ctx, d.program, d.arguments(line)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = d.folder, d.environ(settings), 10*time.Second
	cmd.Stdin = strings.NewReader(text)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	out, err := cmd.CombinedOutput()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		d.Fatalf("%s: %v\n%s", line, err, out)
	}
	return d.read(line, string(out), cmd.ProcessState.ExitCode())
}

// read looks at what was printed, in words and lines for people.
func (d *terminal) read(line, text string, code int) *answer {
	d.Helper()
	a := &answer{d, line, text, code}
	for l := range strings.Lines(a.text) {
		if strings.HasSuffix(line, "json") || record.MatchString(l) || quoted.MatchString(l) || line == "async-worker run" {
			continue
		}
		if n := utf8.RuneCountInString(strings.TrimRight(l, "\n")); n > widest {
			d.Errorf("$ %s\n%s(%d characters wide)", line, l, n)
		}
	}
	for _, jargon := range []string{
		"strconv.", "context deadline exceeded", "json: ", "EOF", "goroutine ", "%!",
		"<nil>",
	} {
		if strings.Contains(a.text, jargon) {
			d.Errorf("$ %s\n%s(%q is not a word of a user's)", line, a.text, jargon)
		}
	}
	return a
}

// expect checks the exit code and parts of the output; a part that begins with ! must be missing.
func (a *answer) expect(code int, parts ...string) *answer {
	a.d.Helper()
	problem := ""
	if a.code != code {
		problem = fmt.Sprintf("exit %d, want %d", a.code, code)
	}
	flat := strings.Join(strings.Fields(a.text), " ") // line breaks may be anywhere
	for _, part := range parts {
		wanted := !strings.HasPrefix(part, "!")
		if strings.Contains(flat, strings.TrimPrefix(part, "!")) != wanted {
			problem += fmt.Sprintf("; %q: wanted %v", strings.TrimPrefix(part, "!"), wanted)
		}
	}
	if problem != "" {
		a.d.Errorf("$ %s\n%s%s", a.typed, a.text, strings.TrimPrefix(problem, "; "))
	}
	return a
}

// daemon runs the worker until stop is called, and returns its log.
func (d *terminal) daemon(settings ...string) (stop func() string) {
	d.Helper()
	log := &bytes.Buffer{}
	p, err := stack.Start(d.ctx, stack.Command{
		Name: "worker", Path: d.program, Args: []string{"run"}, Env: d.environ(settings), Dir: d.folder, Log: log,
	})
	if err != nil {
		d.Fatal(err)
	}
	stopped := false
	stop = func() string {
		if !stopped {
			stopped = true
			if err := p.Stop(syscall.SIGTERM, patience); err != nil {
				d.Error(err)
			}
		}
		return log.String()
	}
	d.Cleanup(func() { stop() })
	return stop
}

func (d *terminal) file(name, content string) {
	d.Helper()
	if err := os.WriteFile(filepath.Join(d.folder, name), []byte(content), 0o600); err != nil {
		d.Fatal(err)
	}
}
