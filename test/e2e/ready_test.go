package e2e

import (
	"bytes"
	"crypto/rand"
	"net"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestNotReadyWithoutServices: a worker is ready only when its settings are valid and its queue and its store have
// answered; otherwise it ends with an exit code for the cause.
func TestNotReadyWithoutServices(t *testing.T) {
	t.Parallel()
	file, err := program()
	if err != nil {
		t.Fatal(err)
	}
	const nobody = "http://127.0.0.1:1"
	for name, c := range map[string]struct {
		env  string
		code int
	}{
		"the database is down": {"SUPABASE_URL=" + nobody, 69},
		"the queue is down": {"AZURE_STORAGE_CONNECTION_STRING=AccountName=a;AccountKey=YWFh;QueueEndpoint=" +
			nobody + "/a;BlobEndpoint=" + nobody + "/a", 69},
		"the NATS server is down": {"QUEUE_BACKEND=nats NATS_URL=nats://127.0.0.1:1", 69},
		"the settings are wrong":  {"WORKER_CONCURRENCY=none", 78},
		"the key is of another":   {"SUPABASE_KEY=wrong", 77},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, "LLM_PROVIDER=offline")
			address := "@async-worker-e2e-" + rand.Text()
			conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: address, Net: "unixgram"})
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			notifications := make(chan string, 64)
			go listen(conn, notifications)
			cmd := exec.CommandContext(b.ctx, file, "run")
			cmd.Env = append(append(b.env, "NOTIFY_SOCKET="+address, "START_MAX_SEC=2"), strings.Fields(c.env)...)
			var log bytes.Buffer
			cmd.Stderr = &log
			_ = cmd.Run() // its exit code is what counts
			if got := cmd.ProcessState.ExitCode(); got != c.code {
				t.Errorf("exit code %d, want %d: %s", got, c.code, &log)
			}
			var sent []string
			for len(notifications) > 0 {
				sent = append(sent, <-notifications)
			}
			if slices.Contains(sent, "READY=1") {
				t.Errorf("it sent %v", sent)
			}
		})
	}
}
