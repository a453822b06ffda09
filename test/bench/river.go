package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/stack"
)

// River is a module of its own, in the folder river: it is built here, and runs as another process.

// buildRiver returns the program's path.
func buildRiver(ctx context.Context, dir string) (string, error) {
	root, err := stack.Root()
	if err != nil {
		return "", err
	}
	program := filepath.Join(dir, "river")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, ".")
	build.Dir, build.Env = filepath.Join(root, "test", "bench", "river"), append(os.Environ(), "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the River worker: %w: %s", err, out)
	}
	return program, nil
}

// riverWorker is a River worker, see river/main.go.
type riverWorker struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Reader
}

func startRiver(
	ctx context.Context, program, url, mode string, jobs, insert int, cooldown time.Duration,
) (*riverWorker, error) {
	cmd := exec.CommandContext(ctx, program, "-mode", mode, "-jobs", strconv.Itoa(jobs),
		"-workers", strconv.Itoa(besideTasks), "-cooldown", cooldown.String(),
		"-insert", strconv.Itoa(insert))
	cmd.Env, cmd.Stderr = append(os.Environ(), "RIVER_DATABASE_URL="+url), os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the River worker: %w", err)
	}
	return &riverWorker{cmd: cmd, in: in, lines: bufio.NewReader(out)}, nil
}

func (w *riverWorker) fill(context.Context) error {
	_, err := w.send("fill")
	return err
}

// through inserts a round's jobs while it works.
func (w *riverWorker) through() (figures, error) { return w.send("through") }

func (w *riverWorker) work(context.Context) (figures, error) { return w.send("work") }

func (w *riverWorker) send(command string) (figures, error) {
	if _, err := fmt.Fprintln(w.in, command); err != nil {
		return figures{}, fmt.Errorf("the River worker: %w", err)
	}
	line, err := w.lines.ReadBytes('\n')
	if err != nil {
		return figures{}, fmt.Errorf("the River worker did not answer %s: %w", command, err)
	}
	var answer struct {
		Took time.Duration `json:"took"`
		CPU  time.Duration `json:"cpu"`
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		return figures{}, fmt.Errorf("decode the River worker's answer to %s: %w", command, err)
	}
	return figures{took: answer.Took, cpu: answer.CPU}, nil
}

func (w *riverWorker) close() error {
	_ = w.in.Close()
	return w.cmd.Wait()
}
