package cli

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestExtractIntoAClosedPipe: extract - | head leaves no copy of the document behind, and complains of nothing.
func TestExtractIntoAClosedPipe(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_ = reader.Close()
	defer writer.Close()
	temp := t.TempDir()
	cmd := exec.CommandContext(t.Context(), self, "extract", "-", "--name", "tides.md")
	cmd.Env = []string{asProgram + "=1", "PATH=" + os.Getenv("PATH"), "HOME=" + temp, "TMPDIR=" + temp, "LLM_PROVIDER=offline"}
	var said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("# Tides\n\nTwice a day.\n"), writer, &said
	if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() != exitFailed || said.Len() > 0 {
		t.Errorf("%v: %s", err, said.String())
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestExtractADirectory: extract - <folder says what is wrong, without a system call or a temporary file.
func TestExtractADirectory(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	cmd := exec.CommandContext(t.Context(), self, "extract", "-")
	cmd.Env, cmd.Stdin = []string{asProgram + "=1", "TMPDIR=" + t.TempDir()}, folder
	const want = "async-worker: the standard input is a directory\n  what to do: pipe a document into it, or name a file\n"
	if said, err := cmd.CombinedOutput(); string(said) != want || cmd.ProcessState.ExitCode() != exitUsage {
		t.Errorf("%v: %s", err, said)
	}
}
