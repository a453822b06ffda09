package cli

import (
	"bytes"
	"context"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/app"
)

// interrupting interrupts a command after its first output.
type interrupting struct {
	at  string
	end context.CancelFunc

	mu   sync.Mutex // what is printed while the command waits comes from another goroutine
	said bytes.Buffer
}

func (w *interrupting) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if bytes.Contains(b, []byte(w.at)) {
		w.end()
	}
	return w.said.Write(b)
}

// A command soon prints what it is waiting for, and the address.
func TestHungDatabaseIsReported(t *testing.T) {
	t.Parallel()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() // takes connections, and never says a word
	ctx, end := context.WithCancel(t.Context())
	defer end()
	w := &interrupting{at: "has not answered yet", end: end}
	p := &program{
		env:    testEnv("DATABASE_URL=postgres://worker:TopSecret@" + l.Addr().String() + "/db"),
		stdin:  strings.NewReader(""),
		stdout: w, stderr: w, open: app.Open,
	}
	code := p.run(ctx, []string{"jobs", "list"})
	w.mu.Lock()
	defer w.mu.Unlock()
	said := w.said.String()
	if code != exitInterrupted || !strings.Contains(said, "has not answered yet") ||
		!strings.Contains(said, l.Addr().String()) || strings.Contains(said, "TopSecret") {
		t.Errorf("exit code %d:\n%s", code, said)
	}
}
