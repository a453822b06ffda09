package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// openTerminal opens both sides of a terminal with 80 columns.
func openTerminal(t *testing.T) (keyboard, screen *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("needs a terminal: ", err)
	}
	t.Cleanup(func() { _ = keyboard.Close() })
	fd := int(keyboard.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Skip("needs a terminal: ", err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Skip("needs a terminal: ", err)
	}
	screen, err = os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("needs a terminal: ", err)
	}
	t.Cleanup(func() { _ = screen.Close() })
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}); err != nil {
		t.Skip("needs a terminal: ", err)
	}
	return keyboard, screen
}

// TestMessagesOfRun: run wraps its messages on a terminal, and writes each as one line to the journal.
func TestMessagesOfRun(t *testing.T) {
	t.Parallel()
	long := errors.New(strings.Repeat("a setting is wrong, ", 12))
	keyboard, screen := openTerminal(t)
	(&program{daemon: true, stderr: screen}).report(long)
	if err := screen.Close(); err != nil {
		t.Fatal(err)
	}
	shown, _ := io.ReadAll(keyboard) // it ends with an error: the other side is closed
	for line := range strings.Lines(string(shown)) {
		if len(strings.TrimRight(line, "\r\n")) > maxLineWidth {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
	var journal bytes.Buffer
	(&program{daemon: true, stderr: &journal}).report(long)
	if strings.Count(journal.String(), "\n") != 1 || len(shown) < len(long.Error()) {
		t.Errorf("the journal has %q, the terminal %q", journal.String(), shown)
	}
}
