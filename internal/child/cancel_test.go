package child_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/child"
)

func TestCancelKillsGrandchildren(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("the task was canceled")
	var pids []int
	c, _ := sh(t, `sleep 600 & echo $!; (sleep 600 & echo $!; wait) & wait`)
	c.Stdout = func(r io.Reader) error {
		lines := bufio.NewScanner(r)
		for lines.Scan() {
			pid, err := strconv.Atoi(lines.Text())
			if err != nil {
				return err
			}
			if pids = append(pids, pid); len(pids) == 2 {
				cancel(stop)
			}
		}
		return lines.Err()
	}
	if _, err := child.Run(ctx, c); !errors.Is(err, stop) {
		t.Errorf("got %v, want the cause of the cancellation", err)
	}
	if len(pids) != 2 {
		t.Fatalf("got the ids of %d grandchildren", len(pids))
	}
	for _, pid := range pids {
		awaitGone(t, pid)
	}
	assertEmpty(t, c.Dir)
}

// awaitGone polls until pid has ended: a killed orphan is reaped by init a moment later.
func awaitGone(t *testing.T, pid int) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for range 1000 {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") || errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return
		}
		<-tick.C
	}
	t.Errorf("process %d still runs", pid)
}

func TestGrandchildOfAnEndedProgramIsKilled(t *testing.T) {
	t.Parallel()
	c, text := sh(t, `sleep 600 >&2 & echo $!`)
	if r, err := child.Run(t.Context(), c); err != nil || !r.OK() {
		t.Fatal(r, err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(*text))
	if err != nil {
		t.Fatal(err)
	}
	awaitGone(t, pid)
}

func TestEndedContextStartsNothing(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c, _ := sh(t, "echo no")
	if _, err := child.Run(ctx, c); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	assertEmpty(t, c.Dir)
}
