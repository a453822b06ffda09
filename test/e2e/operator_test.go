package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
)

// operator queries a worker's HTTP endpoints.
type operator struct {
	b      *bed
	client *http.Client
	base   string
	token  string
}

// atSocket uses the socket in the worker's runtime folder.
func (b *bed) atSocket(dir string) operator {
	return operator{b: b, base: "http://localhost", client: &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(dir, "http.sock"))
		},
	}}}
}

func (o operator) ask(path string) (code int, body string) {
	o.b.t.Helper()
	req, err := http.NewRequestWithContext(o.b.ctx, http.MethodGet, o.base+path, http.NoBody)
	if err != nil {
		o.b.t.Fatal(err)
	}
	if o.token != "" {
		req.Header.Set("Authorization", "Bearer "+o.token)
	}
	resp, err := o.client.Do(req)
	if err != nil {
		o.b.t.Fatalf("%s: %v", path, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		o.b.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func (o operator) expect(path string, code int, texts ...string) {
	o.b.t.Helper()
	got, body := o.ask(path)
	if got != code {
		o.b.t.Errorf("%s: %d %s, want %d", path, got, body, code)
	}
	for _, text := range texts {
		if !strings.Contains(body, text) {
			o.b.t.Errorf("%s: no %q in\n%s", path, text, body)
		}
	}
}

// scrape requests the metrics as Prometheus does, and parses them with Prometheus' parser.
func (o operator) scrape() scraped {
	o.b.t.Helper()
	code, body := o.ask("/metrics")
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(body))
	if err != nil || code != http.StatusOK {
		o.b.t.Fatalf("/metrics: %d %v", code, err)
	}
	return families
}

type scraped map[string]*dto.MetricFamily

// value adds up the series of a metric with these labels (name, value, …): of a histogram their counts.
func (s scraped) value(name string, labels ...string) (sum float64) {
	for _, m := range s[name].GetMetric() {
		got := map[string]string{}
		for _, l := range m.GetLabel() {
			got[l.GetName()] = l.GetValue()
		}
		matches := true
		for i := 0; i < len(labels); i += 2 {
			matches = matches && got[labels[i]] == labels[i+1]
		}
		if matches {
			sum += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return sum
}

// eventually scrapes until a metric has a value: what follows a webhook (deleting the message, say) takes a moment.
func (o operator) eventually(want float64, name string, labels ...string) {
	o.b.t.Helper()
	for {
		got := o.scrape().value(name, labels...)
		if got == want {
			return
		}
		if o.b.ctx.Err() != nil || o.b.t.Context().Err() != nil {
			o.b.t.Fatalf("%s%v is %v, want %v", name, labels, got, want)
		}
	}
}

// statusCommand runs `async-worker status`.
func (o operator) statusCommand(runtime string, code int, texts ...string) {
	o.b.t.Helper()
	file, err := program()
	if err != nil {
		o.b.t.Fatal(err)
	}
	cmd := exec.CommandContext(o.b.ctx, file, "status", "-o", "json")
	cmd.Env = []string{"CLIENT_ID=" + o.b.client, "RUNTIME_DIRECTORY=" + runtime}
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err = cmd.Run()
	if cmd.ProcessState.ExitCode() != code {
		o.b.t.Errorf("status: %v, want exit code %d\n%s%s", err, code, &out, &errOut)
	}
	for _, text := range texts {
		if !strings.Contains(out.String(), text) {
			o.b.t.Errorf("status: no %q in\n%s%s", text, &out, &errOut)
		}
	}
	if out.Len() > 0 && !json.Valid(out.Bytes()) {
		o.b.t.Errorf("status: no JSON: %s", &out)
	}
}

// drain stops the worker while a task waits for the model: it serves requests until the task is done.
func (o operator) drain(w *worker, llm *llmtest.Server, runtime string) {
	o.b.t.Helper()
	hanging, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	llm.Script(llmtest.Fault{Before: func() {
		once.Do(func() { close(hanging) })
		<-release
	}})
	o.b.upload("last.md", []byte("# The last\n\nOne that is read while the worker is stopped.\n"))
	o.b.send(o.b.ingest("last", "last.md"))
	select {
	case <-hanging:
	case <-o.b.ctx.Done():
		o.b.t.Fatal("no request came to the model")
	}
	w.signal(syscall.SIGTERM)
	for code := 0; code != http.StatusServiceUnavailable; {
		if code, _ = o.ask("/readyz"); o.b.ctx.Err() != nil {
			o.b.t.Fatal("it never drained")
		}
	}
	o.expect("/readyz", http.StatusServiceUnavailable, "failed: draining")
	o.expect("/livez", http.StatusOK, "ok")
	o.statusCommand(runtime, 69, `"draining": true`)
	if got := o.scrape().value("async_worker_draining"); got != 1 {
		o.b.t.Errorf("async_worker_draining is %v", got)
	}
	close(release)
	if err := w.exit(); err != nil {
		o.b.t.Errorf("the worker ended with %v", err)
	}
	if _, err := os.Stat(filepath.Join(runtime, "http.sock")); !errors.Is(err, os.ErrNotExist) {
		o.b.t.Errorf("the socket is still there: %v", err)
	}
	o.statusCommand(runtime, 69)
}
