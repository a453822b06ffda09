package azurestub_test

import (
	"testing"

	storage "github.com/seed-7227ef26/async-worker/internal/azure"
	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/queue"
	"github.com/seed-7227ef26/async-worker/queue/azure"
	"github.com/seed-7227ef26/async-worker/queue/azure/azurestub"
	"github.com/seed-7227ef26/async-worker/queue/queuetest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func TestConformance(t *testing.T) {
	t.Parallel()
	queuetest.Run(t, func(t *testing.T) queue.Service {
		stub, err := azurestub.Start()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := stub.Close(); err != nil {
				t.Error(err)
			}
		})
		creds, err := storage.FromConnectionString(stub.ConnectionString())
		if err != nil {
			t.Fatal(err)
		}
		s, err := azure.Open(creds, azure.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}, queuetest.Options{})
}
