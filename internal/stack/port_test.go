package stack

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"sync"
	"testing"
)

// TestFreePort: a port that was given is not given again, though its server does not listen.
func TestFreePort(t *testing.T) {
	t.Parallel()
	port, err := FreePort()
	if err != nil {
		t.Fatal(err)
	}
	if port < 20_000 || port > 32_767 {
		t.Errorf("port %d is one that the kernel gives to connections", port)
	}
	if reserve(port) == nil {
		t.Errorf("port %d was given twice", port)
	}
}

// TestFreePortIsFree: a server can listen on a port at once, whatever processes are started meanwhile.
func TestFreePortIsFree(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	var starters sync.WaitGroup
	defer starters.Wait()
	defer stop()
	for range 4 {
		starters.Go(func() {
			for ctx.Err() == nil {
				_ = exec.CommandContext(ctx, "/bin/true").Run()
			}
		})
	}
	for range 300 {
		port, err := FreePort()
		if err != nil {
			t.Fatal(err)
		}
		address := fmt.Sprintf("127.0.0.1:%d", port)
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		for range 5 { // a server that is stopped and started again
			l, err := ListenAgain(ctx, address)
			if err != nil {
				t.Fatal(err)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
