package child_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/child"
	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == thiefProgram {
		steal()
		return
	}
	leaktest.Main(m)
}

// sh returns a command that runs a shell script, and the text it prints.
func sh(t *testing.T, script string) (child.Command, *string) {
	t.Helper()
	var text string
	return child.Command{
		Program: "sh", Args: []string{"-c", script}, Dir: t.TempDir(),
		Stdout: func(r io.Reader) error {
			b, err := io.ReadAll(r)
			text = string(b)
			return err
		},
	}, &text
}

func TestRunReportsTheEnd(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		script string
		limits child.Limits
		end    child.End
		code   int
	}{
		"fine":            {"echo hello", child.Limits{}, child.Exited, 0},
		"status":          {"exit 3", child.Limits{}, child.Exited, 3},
		"crash":           {"kill -SEGV $$", child.Limits{}, child.Crashed, -1},
		"processor time":  {"while :; do :; done", child.Limits{CPU: time.Second}, child.CPULimit, -1},
		"waited too long": {"sleep 600", child.Limits{Wait: 50 * time.Millisecond}, child.WaitLimit, -1},
		"silent": {
			"echo a word; sleep 600",
			child.Limits{IdleTimeout: 300 * time.Millisecond},
			child.Idle,
			-1,
		},
		"silent and staying": {"exec >&-; sleep 600", child.Limits{Wait: 50 * time.Millisecond}, child.WaitLimit, -1},
		"output": {
			"while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done",
			child.Limits{Output: 1 << 20},
			child.OutputLimit, -1,
		},
		"file": {"exec dd if=/dev/zero of=big bs=4096 count=100", child.Limits{File: 64 << 10}, child.FileLimit, -1},
		"memory": {
			"exec dd if=/dev/zero of=/dev/null bs=200M count=1",
			child.Limits{Memory: 64 << 20},
			child.MemoryLimit, -1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := sh(t, tt.script)
			c.Limits = tt.limits
			r, err := child.Run(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			if r.End != tt.end || r.ExitCode != tt.code {
				t.Errorf("got %+v, want %s with status %d", r, tt.end, tt.code)
			}
		})
	}
}

func TestEnvironmentIsClean(t *testing.T) {
	t.Parallel()
	c, text := sh(t, `env; echo "PWD $(pwd)"; echo "CORE $(ulimit -c)"; echo "FILES $(ulimit -n)"; touch left behind; read x || echo "no input"`)
	c.Env = []string{"OMP_THREAD_LIMIT=1"}
	if r, err := child.Run(t.Context(), c); err != nil || !r.OK() {
		t.Fatal(r, err)
	}
	var names []string
	for line := range strings.Lines(*text) {
		line = strings.TrimSpace(line)
		if name, value, ok := strings.Cut(line, "="); ok && !strings.Contains(name, " ") {
			names = append(names, name)
			if name == "TMPDIR" && filepath.Dir(value) != c.Dir {
				t.Errorf("TMPDIR is %q, not in %q", value, c.Dir)
			}
		}
	}
	if got, want := strings.Join(names, " "), "PATH LC_ALL HOME TMPDIR OMP_THREAD_LIMIT PWD"; !subset(names, want) {
		t.Errorf("environment %q, want at most %q", got, want)
	}
	for _, want := range []string{"CORE 0", "FILES 256", "no input", "PWD " + c.Dir} {
		if !strings.Contains(*text, want) {
			t.Errorf("no %q in %q", want, *text)
		}
	}
	assertEmpty(t, c.Dir)
}

func subset(names []string, of string) bool {
	allowed := strings.Fields(of)
	for _, n := range names {
		found := false
		for _, a := range allowed {
			found = found || a == n
		}
		if !found {
			return false
		}
	}
	return len(names) > 0
}

func assertEmpty(t *testing.T, dir string) {
	t.Helper()
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestReaderThatGivesUpEndsTheProgram(t *testing.T) {
	t.Parallel()
	c, _ := sh(t, `while :; do echo y; done`)
	enough := errors.New("enough")
	c.Stdout = func(r io.Reader) error {
		_, err := io.ReadFull(r, make([]byte, 10))
		return errors.Join(err, enough)
	}
	if _, err := child.Run(t.Context(), c); !errors.Is(err, enough) {
		t.Errorf("got %v", err)
	}
}

// A program that the kernel kills tells nothing about what it read, even if its reader fails at the end of what there is.
func TestKilledFromOutside(t *testing.T) {
	t.Parallel()
	c, _ := sh(t, `echo '<half'; kill -KILL $$`)
	for name, err := range map[string]error{"read": nil, "cut off": errors.New("the XML is cut off")} {
		c.Stdout = func(r io.Reader) error {
			_, other := io.Copy(io.Discard, r)
			return errors.Join(other, err)
		}
		if r, err := child.Run(t.Context(), c); !errors.Is(err, child.ErrKilled) || !taskerr.Exhausted(err) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

// The reader of the output parses untrusted bytes, in another goroutine: its panic becomes an error of this
// run.
func TestReaderThatPanicsEndsTheProgram(t *testing.T) {
	t.Parallel()
	c, _ := sh(t, "echo hello; exec sleep 600")
	c.Stdout = func(r io.Reader) error { panic("a bug in a parser") }
	if _, err := child.Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "a bug in a parser") {
		t.Errorf("got %v", err)
	}
}

// A slow consumer (for example a slow embedding model) must not make the program look slow, nor lose its
// output.
func TestSlowConsumerIsNotTheProgramsFault(t *testing.T) {
	t.Parallel()
	for wait := 2 * time.Second; ; wait *= 2 {
		c, _ := sh(t, `i=0; while [ $i -lt 10000 ]; do echo "line $i"; i=$((i+1)); done`) // more than a pipe holds
		c.Limits.Wait = wait
		lines := 0
		c.Stdout = func(r io.Reader) error {
			scanner := bufio.NewScanner(r)
			for scanner.Scan() {
				if lines++; lines == 2 {
					busy, cancel := context.WithTimeout(t.Context(), wait*5/4)
					<-busy.Done()
					cancel()
				}
			}
			return scanner.Err()
		}
		r, err := child.Run(t.Context(), c)
		if err == nil && r.End == child.WaitLimit && wait < 16*time.Second {
			continue // the program itself may have been starved
		}
		if err != nil || !r.OK() || lines != 10000 {
			t.Errorf("%d lines, %+v, %v", lines, r, err)
		}
		return
	}
}

func TestStderrKeepsItsEnd(t *testing.T) {
	t.Parallel()
	c, _ := sh(t, `i=0; while [ $i -lt 5000 ]; do echo "complaint $i" >&2; i=$((i+1)); done; exit 1`)
	c.Limits.StderrTail = 100
	r, err := child.Run(t.Context(), c)
	if err != nil || len(r.Stderr) > 100 || !strings.HasSuffix(r.Stderr, "complaint 4999") {
		t.Errorf("%q %v", r.Stderr, err)
	}
}

func TestStdin(t *testing.T) {
	t.Parallel()
	c, text := sh(t, `cat`)
	c.Stdin = strings.NewReader("a page")
	if r, err := child.Run(t.Context(), c); err != nil || !r.OK() || *text != "a page" {
		t.Errorf("%q %+v %v", *text, r, err)
	}
}

func TestArgumentsAreNeverScript(t *testing.T) {
	t.Parallel()
	var text string
	c := child.Command{
		Program: "echo", Args: []string{"$(id)", ";", "a b", "`x`"}, Dir: t.TempDir(),
		Stdout: func(r io.Reader) error {
			b, err := io.ReadAll(r)
			text = string(b)
			return err
		},
	}
	if r, err := child.Run(t.Context(), c); err != nil || !r.OK() || text != "$(id) ; a b `x`\n" {
		t.Errorf("%q %+v %v", text, r, err)
	}
}

func TestMissingProgramNamesItsPackage(t *testing.T) {
	t.Parallel()
	_, err := child.Run(t.Context(), child.Command{Program: "pdftotext-of-nowhere", Package: "poppler-utils"})
	missing, ok := errors.AsType[*child.NotInstalledError](err)
	if !ok || missing.Error() != "pdftotext-of-nowhere is not installed; install poppler-utils" {
		t.Errorf("got %v", err)
	}
}

// The service itself may have lower limits than requested: they stay, and Run succeeds.
func TestLowerLimitsOfTheServiceStay(t *testing.T) {
	t.Parallel()
	c, text := sh(t, `ulimit -n`)
	c.Limits.OpenFiles = 1 << 30 // more than any kernel allows
	if r, err := child.Run(t.Context(), c); err != nil || !r.OK() || *text == "" {
		t.Errorf("%q %+v %v", *text, r, err)
	}
}

// TestNoFolder: a program without a folder of its own finds nowhere to write.
func TestNoFolder(t *testing.T) {
	t.Parallel()
	if c := child.Confine(); c.NoLandlock != nil {
		t.Skip(c.NoLandlock)
	}
	outside := filepath.Join(t.TempDir(), "outside")
	c, text := sh(t, `pwd; echo "${TMPDIR-none}"; (echo x >"$1" || echo a > a || mktemp) 2>/dev/null || echo nowhere`)
	c.Args = append(c.Args, "sh", outside)
	c.NoFolder = true
	if r, err := child.Run(t.Context(), c); err != nil || !r.OK() || *text != "/\nnone\nnowhere\n" {
		t.Errorf("%q, %+v, %v", *text, r, err)
	}
	assertEmpty(t, c.Dir)
}

// TestScratch: a program makes and removes files in such a folder, and can't do anything else there.
func TestScratch(t *testing.T) {
	t.Parallel()
	if c := child.Confine(); c.NoLandlock != nil {
		t.Skip(c.NoLandlock)
	}
	dir := t.TempDir()
	c, text := sh(t, `cd "$1" && echo a > file && cat file && rm file && echo b > left; (ls . || echo no list) 2>/dev/null
for try in "mkdir d" "ln -s /etc l" "mkfifo p"; do $try 2>/dev/null && echo "$try"; done`)
	c.Args = append(c.Args, "sh", dir)
	c.Scratch = []string{dir}
	if _, err := child.Run(t.Context(), c); err != nil || *text != "a\nno list\n" {
		t.Errorf("%q, %v", *text, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 || left[0].Name() != "left" {
		t.Errorf("%v, %v", left, err)
	}
}
