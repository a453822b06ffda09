package api_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the files that are generated")

// The OpenAPI document in the repository is that of the code.
func TestSpec(t *testing.T) {
	t.Parallel()
	const file = "../../docs/schemas/openapi.json"
	spec := newBench(t).spec()
	if *update {
		if err := os.WriteFile(file, append(spec, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(file)
	if err != nil || strings.TrimSpace(string(kept)) != string(spec) {
		t.Errorf("%s differs from the code (%v); run: go test ./internal/api -run TestSpec -update", file, err)
	}
}

// spec is the OpenAPI document.
func (b *bench) spec() []byte {
	b.Helper()
	spec, err := b.api.Spec()
	if err != nil {
		b.Fatal(err)
	}
	return spec
}

// Every call has an id and an error of the one shape, and no two calls have the same id.
func TestSpecIsWhole(t *testing.T) {
	t.Parallel()
	var spec struct {
		OpenAPI string `json:"openapi"`
		Paths   map[string]map[string]struct {
			ID        string `json:"operationId"`
			Summary   string `json:"summary"`
			Responses map[string]struct {
				Content map[string]struct {
					Schema struct {
						Ref string `json:"$ref"`
					} `json:"schema"`
				} `json:"content"`
			} `json:"responses"`
		} `json:"paths"`
	}
	b := newBench(t)
	r := b.ask("GET", "/openapi.json", "", "Authorization", "")
	if err := json.Unmarshal([]byte(r.text), &spec); err != nil || spec.OpenAPI != "3.1.0" {
		t.Fatalf("%q, %v", spec.OpenAPI, err)
	}
	seen := map[string]bool{}
	for path, methods := range spec.Paths {
		for method, op := range methods {
			if op.ID == "" || op.Summary == "" || seen[op.ID] {
				t.Errorf("%s %s: id %q, summary %q", method, path, op.ID, op.Summary)
			}
			seen[op.ID] = true
			for status, response := range op.Responses {
				ref := response.Content["application/problem+json"].Schema.Ref
				if (status == "default") != (ref == "#/components/schemas/Problem") {
					t.Errorf("%s %s, %s: %q", method, path, status, ref)
				}
			}
			if _, ok := op.Responses["default"]; !ok {
				t.Errorf("%s %s describes no error", method, path)
			}
		}
	}
}

// The page of the calls loads nothing from elsewhere, and runs no script.
func TestDocs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.ask("GET", "/docs", "", "Authorization", "")
	for _, want := range []string{"POST /v1/jobs", "Idempotency-Key", "JobEvent", "resultRef?"} {
		if !strings.Contains(r.text, want) {
			t.Errorf("no %q on the page", want)
		}
	}
	if found := regexp.MustCompile(`(?i)<script|src=|@import|url\(|href="[^"]*//`).FindString(r.text); found != "" {
		t.Errorf("the page has %s", found)
	}
	if csp := r.header.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'") {
		t.Errorf("Content-Security-Policy: %q", csp)
	}
	// Where nobody has a token, strangers see nothing.
	closed := newBench(t)
	closed.api.SetTokens(nil)
	for _, path := range []string{"/docs", "/openapi.json", "/v1/jobs"} {
		closed.want(closed.ask("GET", path, ""), 401, "UNAUTHORIZED")
	}
}

// Each code of a problem is in the documentation, with what to do.
func TestCodesAreDocumented(t *testing.T) {
	t.Parallel()
	docs, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	codes := 0
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil || strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, found := range regexp.MustCompile(`"([A-Z]+(_[A-Z]+)+)"`).FindAllSubmatch(source, -1) {
			codes++
			if !strings.Contains(string(docs), "`"+string(found[1])+"`") {
				t.Errorf("docs/api.md does not have %s of %s", found[1], file)
			}
		}
	}
	if codes < 20 {
		t.Errorf("%d codes were found", codes)
	}
}
