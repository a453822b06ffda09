package e2e

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
)

// dev is async-worker-dev with its own folder and process group, and without a model's key.
func dev(ctx context.Context, t *testing.T, args ...string) (cmd *exec.Cmd, home string, out *bytes.Buffer) {
	t.Helper()
	file, err := plainProgram()
	if err != nil {
		t.Fatal(err)
	}
	home, out = filepath.Join(t.TempDir(), "dev"), &bytes.Buffer{}
	cmd = exec.CommandContext(ctx, file+"-dev", append([]string{"--home", home}, args...)...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.WaitDelay = 10 * time.Second
	cmd.Env = slices.DeleteFunc(os.Environ(), func(line string) bool {
		return strings.HasPrefix(line, "OPENAI_") || strings.HasPrefix(line, "AZURE_") ||
			strings.HasPrefix(line, "LLM_")
	})
	return cmd, home, out
}

// using are the processes whose command line or working directory names the folder.
func using(t *testing.T, home string) []string {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, dir := range dirs {
		line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		cwd, _ := os.Readlink(filepath.Join(dir, "cwd"))
		if strings.Contains(string(line), home) || strings.HasPrefix(cwd, home) {
			found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}

// left are the files in the folder, without the logs.
func left(t *testing.T, home string) []string {
	t.Helper()
	entries, err := os.ReadDir(home)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.Name() != "logs" {
			names = append(names, e.Name())
		}
	}
	return names
}

func TestDevOnce(t *testing.T) {
	brings(t)
	t.Parallel()
	built(t, plainProgram)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd, home, out := dev(ctx, t, "--once")
	if err := cmd.Run(); err != nil {
		t.Fatalf("dev --once: %v\n%s", err, out)
	}
	for _, want := range []string{
		`created at version \d`,
		`harbour-handbook\.pdf-\w+ +succeeded`,
		`task\.completed, signature verified: pilot-boat-care\.docx`,
		`task\.failed, signature verified: mistake-`,
		`dead .*invalid_payload, validation_error: payload\.filename`,
		`(?s)1\. harbour-handbook\.pdf · page 4 · .*› 4 Safety on the quay\n.*\n +4\.3 Storm At a wind`,
		`summary .*(offline-\S+|sentences of the document)`,
		`(?s)A summary of harbour-handbook\.pdf.*· .+ \(page \d`,
		`(?s)same question for the agent.*No model is set up.*“At 45 knots .*\[1\] harbour-handbook\.pdf, page 4\n`,
		`answer .*offline-\S+, without a model: \d quotations?`,
		`schedule .*[1-9]\d* firings?, 1 new document ingested by a job of its own; the schedule is removed`,
		`1[4-9] verified webhooks, 1 dead letter`, // a firing each, and 13
		`the HTTP API is at http://127\.0\.0\.1:\d+,`,
	} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("it did not show %s", want)
		}
	}
	if processes := using(t, home); len(processes) > 0 {
		t.Errorf("processes are left: %q", processes)
	}
	if got := left(t, home); !slices.Equal(got, []string{"lock"}) {
		t.Errorf("files are left: %q, want the lock alone", got)
	}
	if t.Failed() {
		t.Logf("it printed:\n%s", out)
	}
}

// shown matches a passage that the agent's model has read: its id, and the start of its text.
var shown = regexp.MustCompile(`chunk_id="([0-9a-f-]{36})"[^>]*>\n[#\d. ]*(\w+(?: \w+){2,5})`)

// tourModel is a model that answers the tour's questions: it summarizes, or searches, and quotes what it has found.
func tourModel(r llmtest.ChatRequest) llmtest.Reply {
	if len(r.Tools) == 0 {
		return llmtest.Reply{
			Text: `{"summary": "A harbour has rules.", "key_points": [{"text": "It has a handbook.", "sources": [1]}]}`,
		}
	}
	if last := r.Last(); last.Role == "tool" {
		if m := shown.FindStringSubmatch(last.Text); m != nil {
			return llmtest.Reply{Calls: []llm.ToolCall{{Name: "finish", Arguments: fmt.Sprintf(
				`{"answer": "It is written there. [1]", "citations": [{"chunk_id": %q, "quote": %q}]}`, m[1], m[2])}}}
		}
	}
	return llmtest.Reply{
		Calls: []llm.ToolCall{{Name: "search", Arguments: `{"query": "wind speed, quay cranes parked"}`}},
	}
}

// TestDevThroughAModel: with the address of a server that implements OpenAI's protocol, and no key, the tour uses
// that server; and it does so on the stack of one Postgres.
func TestDevThroughAModel(t *testing.T) {
	brings(t)
	t.Parallel()
	model := llmtest.New(t, llmtest.Options{Key: "none", Reply: tourModel})
	built(t, plainProgram)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd, _, out := dev(ctx, t, "--once", "--backend", "postgres")
	cmd.Env = append(cmd.Env, "OPENAI_BASE_URL="+model.URL())
	if err := cmd.Run(); err != nil {
		t.Fatalf("dev --once: %v\n%s", err, out)
	}
	for _, want := range []string{
		`summary +by gpt-4o-mini, [1-9]\d* \+ [1-9]\d* tokens`,
		`answer +by gpt-4o-mini in \d steps?.* 1 citation checked`, `A harbour has rules\.`,
		`· It has a handbook\. \(page 1\)`,
	} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("it did not show %s:\n%s", want, out)
		}
	}
}

// TestDevInterrupted: it stays up with its settings in a file, refuses a second instance, and leaves only its data
// when it is interrupted as by Ctrl-C.
func TestDevInterrupted(t *testing.T) {
	brings(t)
	t.Parallel()
	built(t, plainProgram)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd, home, errs := dev(ctx, t)
	cmd.Stdout = nil
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }) // ESRCH: it is gone
	lines, up := bufio.NewScanner(stdout), false
	for !up && lines.Scan() {
		up = strings.Contains(lines.Text(), "Ctrl-C stops everything")
	}
	if !up {
		t.Fatalf("it ended before it was up: %v\n%s", cmd.Wait(), errs)
	}
	info, err := os.Stat(filepath.Join(home, "env"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its settings: %v, %v; want a file for its owner alone", info, err)
	}
	second := exec.CommandContext(ctx, cmd.Path, "--home", home)
	if out, err := second.CombinedOutput(); err == nil || !strings.Contains(string(out), "already running") {
		t.Errorf("a second one: %v, %s; want that one is already running", err, out)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
		continue // Wait wants the pipe read to its end
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("interrupted, it ended with %v, want 0\n%s", err, errs)
	}
	if processes := using(t, home); len(processes) > 0 {
		t.Errorf("processes are left: %q", processes)
	}
	if got := left(t, home); !slices.Equal(got, []string{"data", "lock"}) {
		t.Errorf("files are left: %q, want data and lock", got)
	}
}
