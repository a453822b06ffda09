package app

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	storage "github.com/seed-7227ef26/async-worker/internal/azure"
	"github.com/seed-7227ef26/async-worker/internal/config"
)

// TestBackends: each kind of queues has a row, whose remedies name its own settings.
func TestBackends(t *testing.T) {
	t.Parallel()
	settings := config.Settings()
	at := slices.IndexFunc(settings, func(s config.Setting) bool { return s.Name == "QUEUE_BACKEND" })
	for _, name := range settings[at].Values {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tenant := &Tenant{Config: config.Config{QueueBackend: name, ClientID: "acme"}}
			b := tenant.backend()
			said := tenant.NextQueues(errors.New("it is down")) + b.grant(tenant.Config)(storage.QueuePeek, "acme-tasks")
			if b.open == nil || said == "" {
				t.Fatalf("the row lacks something: %+v", b)
			}
			if strings.Contains(said, "AZURE_") != (name == config.QueueAzure) {
				t.Errorf("remedies of %s: %s", name, said)
			}
		})
	}
}

// TestBackendIsAskedForOnce: a new kind of queues has one place in this package (docs/extending.md).
func TestBackendIsAskedForOnce(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if file == "backends.go" || strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"config.QueueAzure", "config.QueueNATS", "config.QueuePostgres", "config.QueuePGMQ", "QueueInDatabase"} {
			if strings.Contains(string(text), name) {
				t.Errorf("%s asks for %s: put what differs into backendOf", file, name)
			}
		}
	}
}
