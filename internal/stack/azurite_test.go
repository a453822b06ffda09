package stack_test

import (
	"context"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/stack"
)

func TestAzuriteStartsServesAndStops(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]stack.AzuriteOptions{"memory": {}, "folder": {Folder: t.TempDir()}} {
		t.Run(name, func(t *testing.T) {
			a, err := stack.StartAzurite(t.Context(), options)
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range []string{
				"AccountName=", "BlobEndpoint=http://127.0.0.1:",
				"QueueEndpoint=http://127.0.0.1:",
			} {
				if !strings.Contains(a.ConnectionString, part) {
					t.Errorf("the connection string lacks %q", part)
				}
			}
			if name == "folder" {
				if err := a.Restart(t.Context()); err != nil { // at the same address: it is what is waited for
					t.Fatal(err)
				}
			}
			if err := a.Stop(); err != nil {
				t.Fatal(err)
			}
			<-a.Done()
		})
	}
}

func TestAzuriteNamesMissingParts(t *testing.T) {
	t.Parallel()
	_, err := stack.StartAzurite(context.Background(), stack.AzuriteOptions{Root: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "npm ci") {
		t.Fatalf("got %v, want an error that says what to run", err)
	}
}
