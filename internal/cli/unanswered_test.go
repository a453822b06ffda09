package cli

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

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
	for _, command := range []string{"jobs list", "migrate"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			address := silent(t)
			ctx, end := context.WithCancel(t.Context())
			defer end()
			w := &interrupting{at: "has not answered yet", end: end}
			p := &program{
				env:    testEnv("DATABASE_URL=postgres://worker:TopSecret@" + address + "/db"),
				stdin:  strings.NewReader(""),
				stdout: w, stderr: w, open: app.Open,
			}
			code := p.run(ctx, strings.Fields(command))
			w.mu.Lock()
			defer w.mu.Unlock()
			said := w.said.String()
			if code != exitInterrupted || !strings.Contains(said, "waited=3s") ||
				!strings.Contains(said, address) || strings.Contains(said, "TopSecret") {
				t.Errorf("exit code %d:\n%s", code, said)
			}
		})
	}
}

// Every command ends after the same time, with the same sentence and the address, if the database accepts connections
// and never answers.
func TestHungDatabaseEndsCommands(t *testing.T) {
	t.Parallel()
	for setting, value := range map[string]string{
		"SUPABASE_URL": "http://%s", "DATABASE_URL": "postgres://worker:TopSecret@%s/db",
	} {
		for command, call := range map[string]string{
			"jobs list": "aw_jobs", "jobs get j": "aw_job", "jobs watch j": "aw_job", "jobs cancel j": "aw_job",
			"jobs retry j": "aw_plan_requeue", "dlq list": "aw_dead_letters", "dlq show d": "aw_dead_letter",
			"dlq replay d": "aw_dead_letter", "documents list": "aw_documents", "search harbour": "aw_rarity",
			"webhooks list": "aw_list_deliveries",
		} {
			t.Run(setting+" "+command, func(t *testing.T) {
				t.Parallel()
				address := silent(t)
				var out, errOut bytes.Buffer
				p := &program{
					env: testEnv(fmt.Sprintf(setting+"="+value, address)), stdin: strings.NewReader(""), stdout: &out,
					stderr: &errOut, open: app.Open, patience: 200 * time.Millisecond,
				}
				code := p.run(t.Context(), strings.Fields(command))
				result{code, out.String(), errOut.String()}.want(t, exitTemporary,
					"the database did not answer "+call+" within 200ms",
					"what to do: is the database up at "+address+"? check "+setting)
			})
		}
	}
}

// migrate is the first command of a new database, whose server or firewall may let the connection hang.
func TestHungDatabaseEndsMigrate(t *testing.T) {
	t.Parallel()
	address := silent(t)
	var out, errOut bytes.Buffer
	p := &program{
		env: testEnv("DATABASE_URL=postgres://owner:TopSecret@" + address + "/db"), stdin: strings.NewReader(""),
		stdout: &out, stderr: &errOut, patience: 200 * time.Millisecond,
	}
	code := p.run(t.Context(), []string{"migrate"})
	result{code, out.String(), errOut.String()}.want(t, exitTemporary,
		"the database at "+address+" did not answer within 200ms", "what to do: check DATABASE_URL")
}

// doctor names the address of a database that does not answer, and the setting that it comes from.
func TestHungDatabaseIsNamedByDoctor(t *testing.T) {
	t.Parallel()
	address := silent(t)
	var out, errOut bytes.Buffer
	p := &program{
		env: testEnv("DATABASE_URL=postgres://worker:TopSecret@" + address + "/db"), stdin: strings.NewReader(""),
		stdout: &out, stderr: &errOut, open: app.Open,
	}
	code := p.run(t.Context(), []string{
		"doctor", "--timeout", "200ms", "--skip",
		"queues,container,models,docling,gateway,webhooks,events,cognee,clock,machine",
	})
	result{code, out.String(), errOut.String()}.want(t, exitUnavailable,
		"remedy: is the database up at "+address+"? check DATABASE_URL")
}
