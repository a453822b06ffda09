package config_test

import (
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/config"
)

func environ(more ...string) config.Sources {
	return config.Sources{ReadFile: os.ReadFile, Environ: append([]string{
		"CLIENT_ID=acme", "AZURE_STORAGE_ACCOUNT=acme", "SUPABASE_URL=https://p.supabase.co", "SUPABASE_KEY=k1",
		"LLM_PROVIDER=offline",
	}, more...)}
}

// A reload applies live settings, keeps the others, and names both.
func TestReload(t *testing.T) {
	t.Parallel()
	old, err := config.Load(environ("WORKER_LEASE_TTL_SEC=30"), config.All)
	if err != nil {
		t.Fatal(err)
	}
	next, changes, err := config.Reload(environ("WORKER_CONCURRENCY=7", "WORKER_LEASE_TTL_SEC=90", "DRAIN_MAX_SEC=5",
		"SUPABASE_KEY=k2", "EXTRACTOR=docling", "DOCLING_URL=http://d:5001"), config.All, old)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"DOCLING_URL", "EXTRACTOR", "WORKER_CONCURRENCY", "DRAIN_MAX_SEC"}; !slices.Equal(changes.Live,
		want) {
		t.Errorf("in force now: %v, want %v", changes.Live, want)
	}
	if want := []string{"SUPABASE_KEY", "WORKER_LEASE_TTL_SEC"}; !slices.Equal(changes.Restart, want) {
		t.Errorf("needs a restart: %v, want %v", changes.Restart, want)
	}
	if next.Concurrency != 7 || next.DrainMax != 5*time.Second || next.LeaseTTL != 30*time.Second ||
		next.Supabase.Key.Reveal() != "k1" || !next.Supabase.TenantKey ||
		next.Docling.URL != "http://d:5001" || next.Azure.Container != "acme-documents" {
		t.Errorf("the settings are %+v", next)
	}
	// A setting that needs a restart is named again at the next reload.
	_, changes, err = config.Reload(environ("WORKER_LEASE_TTL_SEC=90"), config.All, next)
	if want := []string{"WORKER_LEASE_TTL_SEC"}; err != nil || !slices.Equal(changes.Restart, want) ||
		len(changes.Live) != 4 {
		t.Errorf("got %+v, %v", changes, err)
	}
}

// Reload reports every problem, also a value that conflicts only with a setting that needs a restart.
func TestReloadRefuses(t *testing.T) {
	t.Parallel()
	old, err := config.Load(environ("EMBEDDING_DIMENSIONS=1536"), config.All)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = config.Reload(environ("WORKER_CONCURRENCY=none", "POLL_MIN_MS=x"), config.All, old)
	if wrong, ok := errors.AsType[*config.Errors](err); !ok || len(wrong.Problems) != 2 {
		t.Errorf("got %v", err)
	}
	fits := []string{"LLM_PROVIDER=openai", "OPENAI_API_KEY=k", "OPENAI_EMBEDDING_MODEL=text-embedding-3-small"}
	if _, _, err = config.Reload(environ(append(fits, "EMBEDDING_DIMENSIONS=1536")...), config.All, old); err != nil {
		t.Error(err)
	}
	old, err = config.Load(environ("EMBEDDING_DIMENSIONS=3072"), config.All)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err = config.Reload(environ(append(fits, "EMBEDDING_DIMENSIONS=512")...), config.All, old); err == nil {
		t.Error("a model was accepted that can't give the current dimensions")
	}
}

// Environ returns only the variables that are settings.
func TestEnviron(t *testing.T) {
	t.Parallel()
	got := config.Environ([]string{
		"PATH=/bin", "CLIENT_ID=a", "SUPABASE_KEY_FILE=/x", "CREDENTIALS_DIRECTORY=/c", "OTHER_SECRET=s",
	})
	if want := []string{"CLIENT_ID=a", "SUPABASE_KEY_FILE=/x"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	got = config.Overlay([]string{
		"PATH=/bin", "CLIENT_ID=a", "LOG_LEVEL=debug", "CREDENTIALS_DIRECTORY=/c", "WORKER_CONCURENCY=3", "SUPABASE_KYE_FILE=/x",
	}, []string{"CLIENT_ID=b", "PATH=/evil"})
	if want := []string{"PATH=/bin", "CREDENTIALS_DIRECTORY=/c", "CLIENT_ID=b"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
