package firsttry

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// columns is the width of the terminal of show.
const columns = 80

// show is run at a terminal, at which a person answers the first question.
func (d *terminal) show(reply, line string, settings ...string) *answer {
	d.Helper()
	keyboard, screen := openTerminal(d.T)
	cmd := exec.CommandContext(d.ctx, d.program, d.arguments(line)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = d.folder, d.environ(settings), 10*time.Second
	cmd.Stdin, cmd.Stdout, cmd.Stderr = screen, screen, screen
	if err := cmd.Start(); err != nil {
		d.Fatalf("%s: %v", line, err)
	}
	_ = screen.Close() // the program has it
	var shown []byte
	for chunk := make([]byte, 4096); ; {
		n, err := keyboard.Read(chunk)
		if err != nil { // the program has closed the other side
			break
		}
		if shown = append(shown, chunk[:n]...); reply != "" && bytes.HasSuffix(shown, []byte("? ")) {
			_, _ = keyboard.WriteString(reply) // without it, the program's answer is not the expected one
			reply = ""
		}
	}
	err := cmd.Wait()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		d.Fatalf("%s: %v\n%s", line, err, shown)
	}
	return d.read(line, strings.ReplaceAll(string(shown), "\r\n", "\n"), cmd.ProcessState.ExitCode())
}

// openTerminal opens both sides of a terminal.
func openTerminal(t *testing.T) (keyboard, screen *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("needs a terminal: ", err)
	}
	t.Cleanup(func() { _ = keyboard.Close() })
	fd := int(keyboard.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err := errors.Join(err, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0),
		unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns})); err != nil {
		t.Skip("needs a terminal: ", err)
	}
	screen, err = os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("needs a terminal: ", err)
	}
	return keyboard, screen
}

// TestHelp: help fits the terminal, except for commands to copy, and is in groups.
func TestHelp(t *testing.T) {
	t.Parallel()
	d := sitDown(t)
	d.show("", "async-worker --help").expect(0, "Tasks and documents: ask", "A tenant's worker: check-config",
		"This machine: front", "More: completion")
	d.show("", "async-worker run --help").expect(0, "Flags:", "Storage account:", "Database:", "Models:", "Webhooks:")
	for _, command := range []string{
		"", " run", " enqueue", " jobs list", " search", " webhooks resend", " tenant add", " token add", " doctor",
	} {
		help := d.show("", "async-worker"+command+" --help").expect(0, "Usage: async-worker"+command)
		example := false
		for line := range strings.Lines(help.text) {
			line = strings.TrimRight(line, "\n")
			example = line == "Examples:" || example && line != ""
			if n := utf8.RuneCountInString(line); n > columns && !example {
				t.Errorf("$ %s\n%s\n(%d characters, the terminal has %d)", help.typed, line, n, columns)
				break
			}
		}
		d.run("async-worker"+command+" --help").expect(0, "Usage: async-worker"+command) // no line is wider than widest
	}
	d.run("async-worker help jobs lst").expect(2, "did you mean async-worker jobs list?")
	d.run("async-worker jobs list --statos failed").expect(2, "--statos", "did you mean --status?")
}
