package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/test/prove/mutants"
)

// What reading one document may cost.
const (
	readerTime       = 30 * time.Second
	readerMemory     = 300 << 20 // bytes resident, the reader and each of its children
	readerGoroutines = 40        // goroutines left after it
	readerMessage    = 600       // bytes of an error, which must not quote the document
)

// readerProcess has a process read mutants, one after the other, and starts another process when that one dies.
type readerProcess struct {
	seed    uint64
	untimed bool // without bounds on the time
	report  *report
	table   *mutantTable
	seeds   map[string][]mutants.Seed
	program string
	dir     string // holds the mutant, and tmp

	cmd      *exec.Cmd // nil: none runs
	tasks    io.WriteCloser
	replies  chan mutants.Reply // closed when it has ended
	log      *tail
	children int64 // the largest of its children so far
}

// try makes a mutant, has it read and checks what is left. The error reports that it could not be tried.
func (l *readerProcess) try(ctx context.Context, m mutant) error {
	seeds := l.seeds[m.format]
	if len(seeds) == 0 {
		return nil
	}
	name, content := mutants.Mutant(m.format, seeds, l.seed, m.number)
	if l.cmd == nil {
		if err := l.start(ctx); err != nil {
			return err
		}
	}
	file := filepath.Join(l.dir, "mutant")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		return err
	}
	task := mutants.Task{Path: file, Name: name, Format: m.format, OCR: m.format == byOCR}
	line, err := json.Marshal(task)
	if err != nil {
		return err
	}
	_, _ = l.tasks.Write(append(line, '\n')) // if the process has died, replies is closed
	reply, wrong, log := l.reply(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if l.cmd != nil { // it still runs
		wrong = append(l.judge(reply), l.left()...)
	}
	if len(wrong) > 0 {
		l.end() // the next mutant must not be judged by this one's state
	}
	l.report.ran()
	l.table.add(m, reply, len(content))
	if len(wrong) > 0 {
		kept, err := keepMutant(m, l.seed, name, content)
		if err != nil {
			return err
		}
		wrong[0] += " (" + name + "; kept as " + kept + ")"
		l.report.violated(m.String(), wrong, log)
	}
	return nil
}

// reply waits for the reader's answer. A reader that hangs is made to print its goroutines, and killed.
func (l *readerProcess) reply(ctx context.Context) (reply mutants.Reply, wrong []string, log string) {
	patience := readerTime
	if l.untimed {
		patience *= 4
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case reply, ok := <-l.replies:
		if ok {
			return reply, nil, ""
		}
		l.end()
		return mutants.Reply{Outcome: "died"}, []string{"the reader died"}, l.log.String()
	case <-timer.C:
		_ = l.cmd.Process.Signal(syscall.SIGQUIT) // ESRCH: it is gone
		select {
		case <-l.replies:
		case <-time.After(5 * time.Second):
		}
		l.end()
		return mutants.Reply{Outcome: "hung", Took: patience}, []string{
			fmt.Sprintf("it was read for longer than %v", patience),
		}, l.log.String()
	case <-ctx.Done():
		return mutants.Reply{}, nil, ""
	}
}

// judge returns what is wrong with how a mutant was read.
func (l *readerProcess) judge(r mutants.Reply) (wrong []string) {
	if r.Outcome == string(taskerr.InternalBug) || r.Outcome == mutants.Unclear {
		wrong = append(wrong, fmt.Sprintf("its outcome is %s: %s", r.Outcome, r.Message))
	}
	if r.CPU > readerTime {
		wrong = append(wrong, fmt.Sprintf("it takes %v of CPU", r.CPU))
	}
	if len(r.Message) > readerMessage && r.Outcome != string(taskerr.InternalBug) {
		wrong = append(wrong, fmt.Sprintf("its error is %d bytes long: %.200s", len(r.Message), r.Message))
	}
	if r.Peak > readerMemory {
		wrong = append(wrong, fmt.Sprintf("it takes %d MB", r.Peak>>20))
	}
	if r.Children > readerMemory && l.children <= readerMemory {
		wrong = append(wrong, fmt.Sprintf("a program that reads it takes %d MB", r.Children>>20))
	}
	l.children = r.Children
	if r.Goroutines > readerGoroutines {
		wrong = append(wrong, fmt.Sprintf("%d goroutines are left after it", r.Goroutines))
	}
	return wrong
}

// left returns the files that are new, and removes them.
func (l *readerProcess) left() (wrong []string) {
	for _, dir := range []string{l.dir, filepath.Join(l.dir, "tmp")} {
		files, err := os.ReadDir(dir)
		if err != nil {
			wrong = append(wrong, err.Error())
		}
		for _, f := range files {
			if dir == l.dir && (f.Name() == "mutant" || f.Name() == "tmp") {
				continue
			}
			wrong = append(wrong, "a file is left: "+f.Name())
			_ = os.RemoveAll(filepath.Join(dir, f.Name())) // a file that stays is reported again
		}
	}
	return wrong
}

func (l *readerProcess) start(ctx context.Context) error {
	temp := filepath.Join(l.dir, "tmp")
	if err := os.MkdirAll(temp, 0o700); err != nil {
		return err
	}
	l.log, l.children = &tail{}, 0
	cmd := exec.CommandContext(ctx, l.program)
	cmd.Env = append(os.Environ(), "TMPDIR="+temp)
	cmd.Stderr = l.log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	tasks, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	replies := make(chan mutants.Reply)
	l.cmd, l.tasks, l.replies = cmd, tasks, replies
	go func() {
		defer close(replies)
		for decoder := json.NewDecoder(out); ; {
			var r mutants.Reply
			if decoder.Decode(&r) != nil {
				return // it has died
			}
			replies <- r
		}
	}()
	return nil
}

// end ends the process, if there is one.
func (l *readerProcess) end() {
	if l.cmd == nil {
		return
	}
	_ = l.tasks.Close()
	_ = l.cmd.Process.Kill()
	for range l.replies { // until the pipe is empty
	}
	_ = l.cmd.Wait() // killed
	l.cmd = nil
	_ = os.RemoveAll(filepath.Join(l.dir, "tmp")) // a killed process can't; a file that stays is reported next
}

// keepMutant keeps a mutant under .dev.
func keepMutant(m mutant, seed uint64, name string, content []byte) (string, error) {
	root, err := stack.Root()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(".dev", "mutants")
	file := filepath.Join(dir, fmt.Sprintf("%d-%s-%d-%s", seed, m.format, m.number, filepath.Base(name)))
	return file, errors.Join(os.MkdirAll(filepath.Join(root, dir), 0o750),
		os.WriteFile(filepath.Join(root, file), content, 0o600))
}
