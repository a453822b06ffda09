package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The worker and its peers are measured in the same way: each is a process that gets its task as one line of JSON on
// its standard input, prints "ready" when it has loaded its program and connected, does the task after "go", prints one
// line of JSON, and ends with its standard input. Only what is between "go" and the answer counts; memory counts
// whole, since a program that is loaded takes it.

// peerTask is what a process is to do. Fields that it does not need are empty.
type peerTask struct {
	Database string   `json:"database"` // connection string
	Model    string   `json:"model"`    // base of the addresses of the model
	Queues   string   `json:"queues"`   // connection string
	Folder   string   `json:"folder"`   // of the files
	Files    []string `json:"files"`    // names in it
	Output   string   `json:"output"`   // folder of the texts that are read
	Tasks    int      `json:"tasks"`    // no-op tasks to run, or tasks at a time
	Name     string   `json:"name"`     // of the round
}

// peerAnswer is what a process says in the end.
type peerAnswer struct {
	Pages   int     `json:"pages"`
	Seconds float64 `json:"seconds"` // if the process measures its time itself
}

// peerRun is one measured task.
type peerRun struct {
	took, cpu, server time.Duration // server: CPU time of Postgres
	peak              int64         // bytes, proportional, of the process and all below it
	answer            peerAnswer
}

// sampleEvery is how often the memory of a process is looked at.
const sampleEvery = 25 * time.Millisecond

// peerProcess is a running one.
type peerProcess struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Reader
	said  *bytes.Buffer // the end of its standard error
}

// startPeer starts a process and waits until it is ready.
func startPeer(ctx context.Context, t peerTask, command ...string) (p *peerProcess, err error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	// Its children end with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	cmd.Env = append(os.Environ(), "PYTHONUTF8=1", "PYTHONDONTWRITEBYTECODE=1", "PYTHONUNBUFFERED=1", "OPENAI_API_KEY=none",
		"TOKENIZERS_PARALLELISM=false", "DO_NOT_TRACK=1")
	p = &peerProcess{cmd: cmd, said: &bytes.Buffer{}}
	cmd.Stderr = p.said
	if p.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p.lines = bufio.NewReader(out)
	line, err := json.Marshal(t)
	if err == nil {
		_, err = fmt.Fprintf(p.in, "%s\n", line)
	}
	if err == nil {
		err = p.await("ready")
	}
	if err != nil {
		return nil, errors.Join(err, p.stop())
	}
	return p, nil
}

// await reads lines until this one.
func (p *peerProcess) await(word string) error {
	for {
		line, err := p.lines.ReadString('\n')
		if strings.TrimSpace(line) == word {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s did not say %q: %w", filepath.Base(p.cmd.Path), word, err)
		}
	}
}

// run has it do its task, and measures it.
func (p *peerProcess) run() (r peerRun, err error) {
	pid := p.cmd.Process.Pid
	watching, watched := make(chan struct{}), make(chan int64)
	go func() {
		tick := time.NewTicker(sampleEvery)
		defer tick.Stop()
		peak := treeMemory(pid)
		for {
			select {
			case <-tick.C:
				peak = max(peak, treeMemory(pid))
			case <-watching:
				watched <- peak
				return
			}
		}
	}()
	cpu, began := treeCPU(pid), time.Now()
	line := ""
	if _, err = fmt.Fprintln(p.in, "go"); err == nil {
		for err == nil && !strings.HasPrefix(line, "{") { // libraries print, too
			line, err = p.lines.ReadString('\n')
		}
	}
	r.took, r.cpu = time.Since(began), treeCPU(pid)-cpu
	close(watching)
	r.peak = <-watched
	if err != nil {
		return r, fmt.Errorf("%s did not answer: %w", filepath.Base(p.cmd.Path), err)
	}
	if err := json.Unmarshal([]byte(line), &r.answer); err != nil {
		return r, fmt.Errorf("%s answered %q: %w", filepath.Base(p.cmd.Path), line, err)
	}
	if r.answer.Seconds > 0 {
		r.took = time.Duration(r.answer.Seconds * float64(time.Second))
	}
	return r, nil
}

// stop ends it and what it has started. The error of one that failed has the end of what it said.
func (p *peerProcess) stop() error {
	_ = p.in.Close()
	err := p.cmd.Wait()
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // usually nothing is left
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %s", err, lastSaid(p.said.String()))
}

// lastSaid is the end of an error of Python: its last line is the reason, or one with an address above which it is.
func lastSaid(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	lines = lines[max(0, len(lines)-3):]
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line[:min(len(line), 300)])
	}
	return strings.Join(lines, " | ")
}

// treeCPU is the CPU time of a process and of all below it, with those that have ended.
func treeCPU(pid int) time.Duration {
	own, err := processOf(pid)
	if err != nil { // it has ended: its parent has its time
		return 0
	}
	sum := own.cpu + own.ended
	for _, child := range childrenOf(pid) {
		sum += treeCPU(child)
	}
	return sum
}

// childrenOf are the processes that one has started and that run.
func childrenOf(pid int) (children []int) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // the pattern is well-formed
	for _, t := range threads {
		list, _ := os.ReadFile(t) // it has ended
		for child := range strings.FieldsSeq(string(list)) {
			if n, err := strconv.Atoi(child); err == nil {
				children = append(children, n)
			}
		}
	}
	return children
}
