package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
	"github.com/seed-7227ef26/async-worker/internal/stack"
)

// foreign runs a client that is not ours, with what dev/install-queue-clients.sh has installed, and returns its output.
// Its environment is ours and env.
func (b *bed) foreign(program string, env []string, in string, args ...string) string {
	b.t.Helper()
	cmd := exec.CommandContext(b.ctx, foreignTool(b.t, program), args...)
	cmd.Env, cmd.Stdin = append(os.Environ(), env...), strings.NewReader(in)
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		b.t.Fatalf("%s %v: %v\n%s%s", program, args, err, out, problems.String())
	}
	return string(out)
}

// foreignTool is the file of a client; a test without it is skipped.
func foreignTool(t *testing.T, name string) string {
	t.Helper()
	root, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(root, ".tools", "queue-clients", name)
	if _, err := os.Stat(file); err != nil {
		t.Skipf("SKIPPED: a client of the queues that is not ours is missing (%s); run dev/install-queue-clients.sh", name)
	}
	return file
}

// natsClient is a tenant whose tasks come from nats-py.
type natsClient struct {
	*bed
	url string
}

func newNATSClient(t *testing.T, env ...string) natsClient {
	t.Helper()
	foreignTool(t, "nats-py.version")
	b, js := newNATSBed(t, env...)
	b.stream(js)
	text := []byte("# Tides\n\nHigh water is at noon.\n")
	if err := os.WriteFile(filepath.Join(b.folder, "a.md"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	return natsClient{b, js.Conn().ConnectedUrl()}
}

func (c natsClient) python(in string, args ...string) string {
	c.t.Helper()
	return c.foreign("bin/python", []string{"NATS_URL=" + c.url}, in,
		append([]string{"testdata/nats_client.py"}, args...)...)
}

// publish publishes messages to the queue of a priority: empty, .high or .low.
func (c natsClient) publish(priority string, messages ...string) {
	c.t.Helper()
	c.python("simple-process.jobs"+priority+"\t"+
		strings.Join(messages, "\nsimple-process.jobs"+priority+"\t")+"\n", "publish")
}

// TestForeignNATS: tasks of nats-py and of the nats CLI, published to JetStream as anybody does.
func TestForeignNATS(t *testing.T) {
	brings(t)
	t.Parallel()
	for name, scenario := range map[string]func(t *testing.T){
		"a job is done": natsDone, "high before low": natsPriority, "duplicates on three workers": natsDuplicates,
		"shutdown in the middle": natsShutdown, "replay of a dead letter": natsReplay, "nats CLI": natsCLI,
		"replay from ocr.dlq": natsEvents,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario(t)
		})
	}
}

func natsDone(t *testing.T) {
	c := newNATSClient(t)
	c.start()
	c.publish("", c.ingest("one", "a.md"))
	if got := c.await(c.ctx, "one"); got.Type != "task.completed" {
		t.Errorf("the webhook has %s", got.Type)
	}
}

// What waits in high is started before anything that waits in low, though it came later.
func natsPriority(t *testing.T) {
	const tasks = 15
	c := newNATSClient(t, "WORKER_CONCURRENCY=1")
	var low, high []string
	for i := range tasks {
		low = append(low, c.ingest(fmt.Sprint("low-", i), "a.md"))
		high = append(high, c.ingest(fmt.Sprint("high-", i), "a.md"))
	}
	c.publish(".low", low...)
	c.publish(".high", high...)
	c.start()
	c.until("jobs that succeeded", 2*tasks, "select count(*)::int from jobs where status = 'succeeded'")
	expect(c.bed, "low jobs that started before the last high one", 0, `select count(*)::int from jobs
		where id like 'low-%' and started_at < (select max(started_at) from jobs where id like 'high-%')`)
}

func natsDuplicates(t *testing.T) {
	const tasks, copies = 20, 3
	c := newNATSClient(t)
	for range 3 {
		c.start()
	}
	var messages []string
	for i := range tasks { // a document each: jobs on one document wait for each other
		text := fmt.Appendf(nil, "# Tide %d\n\nHigh water is at noon.\n", i)
		if err := os.WriteFile(filepath.Join(c.folder, fmt.Sprintf("%d.md", i)), text, 0o600); err != nil {
			t.Fatal(err)
		}
		messages = append(messages, fmt.Sprintf(`{"specversion":"1.0","id":"e","source":"/python","type":"ocr.requested",`+
			`"data":{"job_id":"d-%d","task_type":"ingest","content_id":"%[1]d.md","payload":{"document_set":"e2e"}}}`, i))
	}
	messages = slices.Repeat(messages, copies)
	c.publish("", messages...)
	c.until("jobs that succeeded", tasks, "select count(*)::int from jobs where status = 'succeeded'")
	expect(c.bed, "jobs", tasks, "select count(*)::int from jobs where attempts = 1 and fence = 1")
	expect(c.bed, "starts", tasks, "select count(*)::int from job_events where stage = 'started'")
}

// A worker that is told to end in the middle of a job gives it back, and another one finishes it.
func natsShutdown(t *testing.T) {
	model := llmtest.New(t, llmtest.Options{})
	hanging := make(chan struct{})
	var once sync.Once
	model.Break(llmtest.Fault{Hang: true, Before: func() { once.Do(func() { close(hanging) }) }})
	c := newNATSClient(t, append(modelEnv(model), "LLM_PROVIDER=openai", "DRAIN_MAX_SEC=1")...)
	first := c.start()
	c.publish("", c.ingest("given-back", "a.md"))
	select {
	case <-hanging:
	case <-c.ctx.Done():
		t.Fatal("no request came to the model")
	}
	first.signal(syscall.SIGTERM)
	if err := first.exit(); err != nil {
		t.Errorf("the worker ended with %v", err)
	}
	model.Mend()
	c.start()
	if got := c.await(c.ctx, "given-back"); got.Type != "task.completed" {
		t.Errorf("the webhook has %s", got.Type)
	}
	expect(c.bed, "the job", "succeeded, 2 starts", `select status || ', ' || (select count(*) from job_events
		where stage = 'started') || ' starts' from jobs`)
}

// A subscriber takes the copy of a dead letter, and publishes its task again with force once its cause is gone.
func natsReplay(t *testing.T) {
	c := newNATSClient(t)
	c.start()
	c.publish("", c.ingest("late", "later.md"))
	if got := c.await(c.ctx, "late"); got.Type != "task.failed" {
		t.Fatalf("the webhook has %s", got.Type)
	}
	var letter struct {
		Original string `json:"original_message"`
	}
	if err := json.Unmarshal([]byte(c.python("", "dead", "1")), &letter); err != nil {
		t.Fatal(err)
	}
	var task map[string]any
	if err := json.Unmarshal([]byte(letter.Original), &task); err != nil {
		t.Fatalf("%v: %s", err, letter.Original)
	}
	task["hints"] = map[string]any{"force": true}
	again, err := json.Marshal(task)
	if err == nil {
		err = os.WriteFile(filepath.Join(c.folder, "later.md"), []byte("# Later\n\nIt came.\n"), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	c.publish("", string(again))
	c.until("second series that succeeded", 1, "select count(*)::int from jobs where series = 2 and status = 'succeeded'")
}

func natsCLI(t *testing.T) {
	c := newNATSClient(t)
	foreignTool(t, "bin/nats")
	c.start()
	env := []string{"XDG_CONFIG_HOME=" + t.TempDir()}
	c.foreign("bin/nats", env, "", "--server", c.url, "pub", "--jetstream", "simple-process.jobs", c.ingest("cli", "a.md"))
	if got := c.await(c.ctx, "cli"); got.Type != "task.completed" {
		t.Errorf("the webhook has %s", got.Type)
	}
	out := c.foreign("bin/nats", env, "", "--server", c.url, "consumer", "info", "TASKS", "ocr-workers", "--json")
	if !strings.Contains(out, `"filter_subject": "simple-process.jobs"`) {
		t.Errorf("the CLI sees another consumer: %s", out)
	}
}
