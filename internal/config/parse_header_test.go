package config_test

import (
	"strings"
	"testing"
)

// TestKeysOfHeaders: a key that no header can carry is told, and never quoted.
func TestKeysOfHeaders(t *testing.T) {
	t.Parallel()
	for name, with := range map[string]string{
		"OPENAI_API_KEY": "", "AZURE_OPENAI_API_KEY": "AZURE_OPENAI_ENDPOINT=https://r.openai.azure.com",
		"RERANK_API_KEY": "RERANK_URL=https://rerank", "OCR_API_KEY": "OCR_BASE_URL=https://vllm/v1",
		"DOCLING_API_KEY": "DOCLING_URL=https://docling", "COGNEE_API_KEY": "COGNEE_URL=https://cognee",
		"SUPABASE_SERVICE_ROLE_KEY": "SUPABASE_KEY=", "SUPABASE_KEY": "", "SUPABASE_ANON_KEY": "",
		"EVENTS_KEY": "EVENTS_URL=https://events",
	} {
		for key, fine := range map[string]bool{
			"s3cret-_.+/=~": true, "s3cret\nother": false, "s3cret\rother": false, "s3cret\tother": false, "not needed": true,
			"s3cret\x1bother": false, "s3cret\x00other": false, "s3cret\u200bother": false, "s3cret\u00a0other": false,
		} {
			_, problems := load(t, minimal(with, name+"_FILE=/key"), nil, files{"/key": key + "\n"})
			if fine != (len(problems) == 0) || !fine && (len(problems) != 1 || problems[0].Name != name ||
				!strings.Contains(problems[0].Problem, "a line break") || strings.Contains(problems[0].Problem, "s3cret")) {
				t.Errorf("%s, %q: %v", name, key, problems)
			}
		}
	}
	// a token of NATS in base64 may begin with a slash, and the content of a .creds file has many lines
	for _, key := range []string{"/s3cretToken+/0=", "-----BEGIN NATS USER JWT-----\neyJ0\n------END NATS USER JWT------"} {
		if _, problems := load(t, minimal("EVENTS_URL=tls://host:4222", "EVENTS_KEY="+key), nil, nil); problems != nil {
			t.Errorf("%q: %v", key, problems)
		}
	}
}
