package azure_test

import (
	"testing"

	storage "github.com/seed-7227ef26/async-worker/internal/azure"
	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/queue"
	"github.com/seed-7227ef26/async-worker/queue/azure"
	"github.com/seed-7227ef26/async-worker/queue/queuetest"
)

func TestMain(m *testing.M) {
	stacktest.Main(m, leaktest.Find)
}

func open(t *testing.T, connectionString string, o azure.Options) queue.Service {
	t.Helper()
	creds, err := storage.FromConnectionString(connectionString)
	if err != nil {
		t.Fatal(err)
	}
	s, err := azure.Open(creds, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConformance(t *testing.T) {
	t.Parallel()
	queuetest.Run(t, func(t *testing.T) queue.Service { return open(t, stacktest.Azurite(t), azure.Options{}) },
		queuetest.Options{})
}
