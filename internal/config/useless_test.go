package config_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/config"
)

// TestUseless: a setting that has no effect is told, and not where it has one.
func TestUseless(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ without, with string }{
		{"BLOB_DIR=/tmp", "BLOB_BACKEND=dir"},
		{"NATS_URL=nats://127.0.0.1:4222", "QUEUE_BACKEND=nats"},
		{"CONTEXT_MODEL=small", "CONTEXT_MODE=model|LLM_PROVIDER=openai|OPENAI_API_KEY=k"},
		{"OCR_BASE_URL=http://127.0.0.1:8000/v1", "OCR_ENGINE=openai"},
		{"OCR_API_KEY=k|OCR_BASE_URL=http://127.0.0.1:8000/v1", "OCR_ENGINE=openai"},
		{"OCR_MODEL=m|OCR_BASE_URL=http://127.0.0.1:8000/v1", "OCR_ENGINE=openai"},
		{"DOCLING_URL=http://127.0.0.1:5001|EXTRACTOR=native", "OCR_ENGINE=docling"},
		{"DOCLING_URL=http://127.0.0.1:5001|EXTRACTOR=native", "EXTRACTOR=auto"},
		{"PII_KINDS=EMAIL", "PII_MODE=tag"},
		{"PII_DETECTOR_URL=http://127.0.0.1:5002", "PII_MODE=redact"},
		{"HTTP_TOKEN=0123456789abcdef", "HTTP_ADDR=127.0.0.1:9090"},
	} {
		name, _, _ := strings.Cut(c.without, "=")
		told := func(settings string) bool {
			cfg, problems := load(t, minimal(strings.Split(settings, "|")...), nil, nil)
			if problems != nil {
				t.Errorf("%s: %v", settings, problems)
			}
			return slices.ContainsFunc(cfg.Warnings(), func(p config.Problem) bool {
				return p.Name == name && strings.HasPrefix(p.Problem, "it is set, but ") && p.Remedy != ""
			})
		}
		if !told(c.without) {
			t.Errorf("nothing is told of %s", c.without)
		}
		if told(c.without + "|" + c.with) {
			t.Errorf("%s is said to have no effect with %s", name, c.with)
		}
	}
}

// TestStepAsLongAsItsTask: a step that ends with its task ends it for good.
func TestStepAsLongAsItsTask(t *testing.T) {
	t.Parallel()
	for env, want := range map[string]bool{
		"": false, "TASK_TIMEOUT_SEC=31": false, "TASK_TIMEOUT_SEC=30": true, "STEP_TIMEOUT_SEC=1800": true,
	} {
		c, problems := load(t, minimal(env), nil, nil)
		told := slices.ContainsFunc(c.Warnings(), func(p config.Problem) bool { return p.Name == "STEP_TIMEOUT_SEC" })
		if problems != nil || told != want {
			t.Errorf("%q: told %t; %v", env, told, problems)
		}
	}
}
