package stack

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// natsModule is the package of nats-server, in the version of go.mod.
const natsModule = "github.com/nats-io/nats-server/v2"

// BuildNATS builds nats-server into a folder and returns its file.
func BuildNATS(ctx context.Context, dir string) (string, error) {
	return filepath.Join(dir, "nats-server"), Build(ctx, dir, natsModule)
}

// NATSOptions configure a nats-server.
type NATSOptions struct {
	Program string    // the file of nats-server; see BuildNATS
	Folder  string    // keeps its streams
	Log     io.Writer // gets its output; may be nil
	// Configuration is more of it, in the form of nats-server's file. Anybody on the machine may connect without one that
	// has authorization, as Token makes it.
	Configuration string
}

// Token is the configuration of a server that wants a token, and what goes into the URL for it.
func Token() (configuration, userinfo string) {
	token := rand.Text()
	return fmt.Sprintf("authorization { token: %q }\n", token), token + "@"
}

// NATS is a running nats-server with JetStream, a process of its own.
type NATS struct {
	*Process
	URL string

	command Command // to start it again
}

// StartNATS starts nats-server on a free loopback port and waits until it answers.
func StartNATS(ctx context.Context, o NATSOptions) (*NATS, error) {
	file := filepath.Join(o.Folder, "nats-server.conf")
	if err := os.WriteFile(file, []byte(o.Configuration), 0o600); err != nil {
		return nil, fmt.Errorf("write the configuration of nats-server: %w", err)
	}
	var last error
	for range 3 { // another process may have taken the port between its choice and its use
		port, err := FreePort()
		if err != nil {
			return nil, fmt.Errorf("find a port for nats-server: %w", err)
		}
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		n := &NATS{URL: "nats://" + address, command: Command{
			Name: "nats-server", Path: o.Program, Log: o.Log, Env: []string{"PATH=" + os.Getenv("PATH")},
			Args: []string{"-a", "127.0.0.1", "-p", strconv.Itoa(port), "-js", "-sd", o.Folder, "-c", file},
			Up:   func(ctx context.Context) error { return greeted(ctx, address) },
		}}
		if n.Process, err = Start(ctx, n.command); err == nil || ctx.Err() != nil {
			return n, err
		}
		last = err
	}
	return nil, last
}

// greeted returns nil once a NATS server says INFO there, which it does on each connection.
func greeted(ctx context.Context, address string) error {
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
		return err
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err == nil && !strings.HasPrefix(line, "INFO ") {
		err = errors.New("the answer is not that of a NATS server")
	}
	return err
}

// Kill ends the server without letting it put anything in order, as a crash does.
func (n *NATS) Kill() error { return n.Process.Stop(syscall.SIGKILL, 10*time.Second) }

// Restart starts it again at the same address with the same streams, after it has ended.
func (n *NATS) Restart(ctx context.Context) error {
	process, err := Start(ctx, n.command)
	if err == nil {
		n.Process = process
	}
	return err
}

// Stop ends the server; its folder stays.
func (n *NATS) Stop() error { return n.Process.Stop(syscall.SIGTERM, 10*time.Second) }
