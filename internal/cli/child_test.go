package cli

import (
	"bytes"
	"context"
	"fmt"
	"log" //nolint:depguard // libraries write to it
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/app"
)

// In the environment of a test's program.
const (
	asProgram     = "ASYNC_WORKER_TEST_AS_PROGRAM" // it is the program that it tests
	childPatience = "ASYNC_WORKER_TEST_PATIENCE"   // a duration: that of RunPatiently
	childLogs     = "ASYNC_WORKER_TEST_LOGS"       // it writes this to the standard log at its end, as a library does
)

// busyPatience is longer than a database or a storage account is silent on a busy machine.
const busyPatience = 5 * time.Minute

func isChild() bool { return os.Getenv(asProgram) != "" }

// asChild is the program, as a test has started it.
func asChild() (code int) {
	if err := app.Protect(); err != nil {
		fmt.Fprintln(os.Stderr, "app.Protect:", err)
	}
	patience, _ := time.ParseDuration(os.Getenv(childPatience)) // none: zero
	code = RunPatiently(context.Background(), patience, os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr)
	if line := os.Getenv(childLogs); line != "" {
		log.Print(line)
	}
	return code
}

// TestChildPatience: a program of a test waits for as long as the test says for what does not answer.
func TestChildPatience(t *testing.T) {
	t.Parallel()
	r := runChild(t, []string{"jobs", "list"}, testEnv(childPatience+"=200ms", "SUPABASE_URL=http://"+silent(t))...)
	r.want(t, exitTemporary, "did not answer aw_jobs within 200ms")
}

// TestStandardLog: the program's log has what libraries write to the standard log, and no key of a tenant.
func TestStandardLog(t *testing.T) {
	t.Parallel()
	at := down(t, bench{})
	nowhere := testEnv("DATABASE_URL="+at.database, "AZURE_STORAGE_CONNECTION_STRING="+at.storage)
	for command, env := range map[string][]string{
		"jobs list":            nowhere,
		"run":                  append(slices.Clip(nowhere), "LOG_FORMAT=text", "START_MAX_SEC=0"),
		"front --addr nowhere": {"LOG_FORMAT=text"},
	} {
		r := runChild(t, strings.Fields(command), append(slices.Clip(env), childLogs+"=Unsolicited response starting with TopSecret")...)
		if !strings.Contains(r.errOut, `WRN a library reports text="Unsolicited response"`) || strings.Contains(r.errOut, "TopSecret") {
			t.Errorf("%s: exit code %d\n%s", command, r.code, r.errOut)
		}
	}
}

// TestStandardLogOfTests: commands that run in the process of a test leave its standard log alone. Servers of other tests
// write to it.
func TestStandardLogOfTests(t *testing.T) {
	t.Parallel()
	before := log.Writer()
	ctx, end := context.WithCancel(t.Context())
	end()
	for _, command := range []string{"jobs list", "run", "front --addr 127.0.0.1:0"} {
		var out bytes.Buffer
		p := &program{
			env: testEnv("SUPABASE_URL=http://127.100.100.1:1"), stdin: strings.NewReader(""), stdout: &out, stderr: &out,
			open: app.Open,
		}
		p.run(ctx, strings.Fields(command))
		if log.Writer() != before {
			t.Errorf("%s has redirected the standard log", command)
		}
	}
}

// runChild runs the program in a process of its own.
func runChild(t *testing.T, args []string, env ...string) result {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out, errOut bytes.Buffer
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(env, asProgram+"=1", "PATH="+os.Getenv("PATH"), "HOME=/nonexistent", "GORACE="+os.Getenv("GORACE"))
	cmd.Stdout, cmd.Stderr = &out, &errOut
	_ = cmd.Run() // its exit code is the test's
	return result{cmd.ProcessState.ExitCode(), out.String(), errOut.String()}
}
