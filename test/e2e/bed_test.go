package e2e

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"
	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/webhook/receiver"
)

// bed is one tenant with services of its own, and access to observe it from outside.
type bed struct {
	t        *testing.T
	ctx      context.Context // bounds every wait of the test
	client   string
	azure    string // connection string
	database string // the superuser's URL
	api      string // PostgREST's address
	reader   string // a frontend's key
	env      []string
	hooks    *receiver.Receiver
	plain    bool                    // the worker is built without the race detector
	folder   string                  // of the documents, without Azure
	put      func(text string) error // puts a text on the queue
}

// newBed returns a tenant. The worker reaches its rows with a key for this tenant alone.
func newBed(t *testing.T, env ...string) *bed {
	t.Helper()
	built(t, program)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	b := &bed{
		t: t, ctx: ctx, client: stacktest.UniqueName("e2e"), azure: stacktest.Azurite(t),
		database: stacktest.Postgres(t), hooks: newHooks(t),
	}
	api := stacktest.PostgREST(t, b.database)
	queues := b.queues()
	b.api, b.reader = api.URL, api.ReaderKey(t, b.client)
	b.env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "TMPDIR=" + t.TempDir(),
		"GORACE=" + os.Getenv("GORACE"), // without it, a program of the race detector sleeps a second at its end
		"CLIENT_ID=" + b.client, "AZURE_STORAGE_CONNECTION_STRING=" + b.azure,
		"SUPABASE_URL=" + api.URL, "SUPABASE_KEY=" + api.TenantKey(t, b.client),
		"WEBHOOK_SECRET=" + receiver.Secret, "WEBHOOK_ALLOW_CIDRS=127.0.0.0/8", "POLL_MAX_MS=500", "LOG_FORMAT=text",
	}, append(queues, env...)...)
	blobs, err := azblob.NewClientFromConnectionString(b.azure, nil)
	if err == nil {
		_, err = blobs.CreateContainer(ctx, b.container(), nil)
	}
	if err != nil {
		t.Fatalf("create the tenant's container: %v", err)
	}
	return b
}

func (b *bed) container() string { return b.client + "-documents" }

// queue is the tenant's queue at Azure; a test that needs it is skipped on others.
func (b *bed) queue() *azqueue.QueueClient {
	b.t.Helper()
	if *onQueue != "azure" {
		b.t.Skipf("SKIPPED on -queue %s: the test looks into a queue at Azure", *onQueue)
	}
	c, err := azqueue.NewQueueClientFromConnectionString(b.azure, b.client+"-tasks", nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return c
}

func (b *bed) upload(name string, content []byte) {
	b.t.Helper()
	c, err := azblob.NewClientFromConnectionString(b.azure, nil)
	if err == nil {
		_, err = c.UploadBuffer(b.ctx, b.container(), name, content, nil)
	}
	if err != nil {
		b.t.Fatalf("upload %s: %v", name, err)
	}
}

// ingest is the message of an ingest task, as a frontend writes it.
func (b *bed) ingest(id, filename string) string {
	b.t.Helper()
	text, err := json.Marshal(map[string]any{
		"task_id": id, "task_type": "ingest", "webhook_url": b.hooks.URL,
		"payload": map[string]string{"filename": filename, "document_set": "e2e"},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return string(text)
}

// send puts a text on the queue as it is.
func (b *bed) send(text string) {
	b.t.Helper()
	if err := b.put(text); err != nil {
		b.t.Fatalf("send: %v", err)
	}
}

// sendFromJavaScript does the same with the SDK for JavaScript; encoding is base64 or raw.
func (b *bed) sendFromJavaScript(text, encoding string) {
	b.t.Helper()
	b.queue()
	root, err := stack.Root()
	if err != nil {
		b.t.Fatal(err)
	}
	cmd := exec.CommandContext(b.ctx, "node", filepath.Join(root, "dev", "frontend.mjs"), b.client+"-tasks", encoding)
	cmd.Env = append(os.Environ(), "AZURE_STORAGE_CONNECTION_STRING="+b.azure)
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		b.t.Fatalf("send with the SDK for JavaScript: %v\n%s", err, out)
	}
}

// moment waits a little before another process is looked at again; false: the test's time is over.
func (b *bed) moment() bool {
	select {
	case <-time.After(20 * time.Millisecond):
		return true
	case <-b.ctx.Done():
		return false
	}
}

// query returns one value; it sees the rows of every tenant.
func query[T any](b *bed, sql string, args ...any) T {
	b.t.Helper()
	conn, err := pgx.Connect(b.ctx, b.database)
	if err != nil {
		b.t.Fatal(err)
	}
	defer conn.Close(b.ctx)
	var v T
	if err := conn.QueryRow(b.ctx, sql, args...).Scan(&v); err != nil {
		b.t.Fatalf("%s: %v", sql, err)
	}
	return v
}

// expect compares what a query returns.
func expect[T comparable](b *bed, what string, want T, sql string, args ...any) {
	b.t.Helper()
	if got := query[T](b, sql, args...); got != want {
		b.t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// worker is a running daemon.
type worker struct {
	*stack.Process
	b             *bed
	notifications chan string // its notifications to the service manager, e.g. READY=1
	log           *bytes.Buffer
}

// start starts the daemon and waits until it serves. It ends with the test at the latest.
func (b *bed) start() *worker {
	b.t.Helper()
	build := program
	if b.plain {
		build = plainProgram
	}
	file, err := build()
	if err != nil {
		b.t.Fatal(err)
	}
	address := "@async-worker-e2e-" + rand.Text() // in the abstract name space: no file
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: address, Net: "unixgram"})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { conn.Close() })
	w := &worker{b: b, notifications: make(chan string, 64)}
	go listen(conn, w.notifications)
	w.log = &bytes.Buffer{}
	w.Process, err = stack.Start(b.ctx, stack.Command{
		Name: "worker", Path: file, Args: []string{"run"}, Env: append(b.env, "NOTIFY_SOCKET="+address), Log: w.log,
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		if err := w.Process.Stop(syscall.SIGKILL, 10*time.Second); err != nil {
			b.t.Error(err)
		}
		if b.t.Failed() {
			b.t.Logf("the worker's log:\n%s", w.log)
		}
	})
	w.await("READY=1")
	return w
}

// listen forwards each line until conn is closed.
func listen(conn net.Conn, notifications chan<- string) {
	buf := make([]byte, 4096)
	for {
		n, err := conn.Read(buf)
		if err != nil {
			return
		}
		for line := range strings.SplitSeq(string(buf[:n]), "\n") {
			select {
			case notifications <- line:
			default: // nobody reads
			}
		}
	}
}

// await waits until the daemon has sent this notification.
func (w *worker) await(line string) {
	w.b.t.Helper()
	for {
		select {
		case got := <-w.notifications:
			if got == line {
				return
			}
		case <-w.Done():
			w.b.t.Fatalf("the worker ended (%v) before it sent %s", w.Err(), line)
		case <-w.b.ctx.Done():
			w.b.t.Fatalf("the worker never sent %s: %v", line, context.Cause(w.b.ctx))
		}
	}
}

// signal sends a signal to the worker alone, as a service manager does.
func (w *worker) signal(s syscall.Signal) {
	w.b.t.Helper()
	if err := syscall.Kill(w.Pid(), s); err != nil {
		w.b.t.Fatalf("send %v: %v", s, err)
	}
}

// exit waits for the end of the worker and returns how it ended.
func (w *worker) exit() error {
	w.b.t.Helper()
	select {
	case <-w.Done():
		return w.Err()
	case <-w.b.ctx.Done():
		return fmt.Errorf("it did not end: %w", context.Cause(w.b.ctx))
	}
}
