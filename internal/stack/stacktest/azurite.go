package stacktest

import (
	"context"
	"crypto/rand"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/stack"
)

// azurite is the process's one server. Like cleanups, it outlives every single test.
var azurite = sync.OnceValues(func() (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	server, err := stack.StartAzurite(ctx, stack.AzuriteOptions{})
	if err != nil {
		return "", err
	}
	atExit(server.Stop)
	return server.ConnectionString, nil
})

// Azurite returns the connection string of an Azurite that all tests of the process share; take
// names of queues and containers from UniqueName. The package's TestMain must call Main.
func Azurite(t testing.TB) (connectionString string) {
	t.Helper()
	s, err := azurite()
	if err != nil {
		t.Fatalf("start Azurite: %v", err)
	}
	return s
}

// UniqueName returns a name with the prefix that no other test has, fit for queues and containers.
func UniqueName(prefix string) string { return prefix + "-" + strings.ToLower(rand.Text()[:10]) }
