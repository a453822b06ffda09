package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/seed-7227ef26/async-worker/queue/azure/azurestub"
)

// The stub of the queue protocol runs as a process of its own, of this same program, so that its CPU time doesn't
// count as the worker's. It ends when its standard input does.

func serveStub(out io.Writer, in io.Reader) int {
	s, err := azurestub.Start()
	if err != nil {
		fmt.Fprintln(os.Stderr, "stub:", err)
		return 1
	}
	fmt.Fprintln(out, s.ConnectionString())
	_, _ = io.Copy(io.Discard, in) // until the parent is gone
	if err := s.Close(); err != nil {
		fmt.Fprintln(os.Stderr, "stub:", err)
		return 1
	}
	return 0
}

func startStub(ctx context.Context) (connection string, stop func(), err error) {
	return startService(ctx, "stub")
}

// startService starts a service of this program, which prints its address.
func startService(ctx context.Context, name string) (address string, stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	cmd := exec.CommandContext(ctx, self, name)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, fmt.Errorf("start the %s: %w", name, err)
	}
	stop = func() {
		_ = in.Close()
		_ = cmd.Wait()
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop()
		return "", nil, fmt.Errorf("the %s did not print its address: %w", name, err)
	}
	return strings.TrimSpace(line), stop, nil
}
