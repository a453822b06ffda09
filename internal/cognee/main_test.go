package cognee_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/cognee"
	"github.com/seed-7227ef26/async-worker/internal/cognee/cogneetest"
	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
)

// These make this test program a worker that sends the outbox of a database to a server.
const (
	serverEnv   = "COGNEE_TEST_SERVER"
	databaseEnv = "COGNEE_TEST_DATABASE"
)

func TestMain(m *testing.M) {
	if os.Getenv(serverEnv) != "" {
		fmt.Fprintln(os.Stderr, work(context.Background()))
		os.Exit(1)
	}
	stacktest.Main(m, leaktest.Find)
}

// work sends until the process is killed.
func work(ctx context.Context) error {
	s, err := postgres.Open(ctx, os.Getenv(databaseEnv), postgres.Options{ClientID: client, MaxConns: 4})
	if err != nil {
		return err
	}
	c, err := cognee.New(cognee.Options{URL: os.Getenv(serverEnv), APIKey: cogneetest.Key})
	if err != nil {
		return err
	}
	// The lease is longer than a busy machine takes to notice that a killed worker has hung up.
	l, err := cognee.NewLoop(cognee.Config{
		Store: s, Client: c, ClientID: client, Worker: fmt.Sprintf("process %d", os.Getpid()),
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)), Lease: 5 * time.Second, Poll: 100 * time.Millisecond,
		Quiet: 50 * time.Millisecond, FirstProbe: 20 * time.Millisecond, FirstRetry: 5 * time.Millisecond,
		Unlisted: 200 * time.Millisecond,
	})
	if err != nil {
		return err
	}
	l.Run(ctx)
	return nil
}

// victim is the process that sends, and is killed and started again.
type victim struct {
	t    testing.TB
	env  []string
	died chan struct{} // it was killed; capacity 1

	mu    sync.Mutex
	child *exec.Cmd // nil: it was killed
	kills int
	most  int
}

func (v *victim) start() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.child = exec.Command(os.Args[0], "-test.run=^$")
	v.child.Env = append(os.Environ(), v.env...)
	if err := v.child.Start(); err != nil {
		v.t.Errorf("start a worker: %v", err)
	}
}

// kill kills the worker (SIGKILL), if it has not died often enough yet.
func (v *victim) kill() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.child == nil || v.kills >= v.most {
		return
	}
	v.kills++
	v.end()
}

// end kills the worker for good or for the next one. The caller holds mu.
func (v *victim) end() {
	if v.child == nil {
		return
	}
	_ = v.child.Process.Kill() // it may have ended
	_ = v.child.Wait()         // it was killed
	v.child = nil
	select {
	case v.died <- struct{}{}:
	default:
	}
}

func (v *victim) killed() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.kills
}
