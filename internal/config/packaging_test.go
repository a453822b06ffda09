package config_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/config"
)

// TestKubernetesSettings: everything that packaging/kubernetes sets is a setting, with the secrets in a Secret.
func TestKubernetesSettings(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile(filepath.Join("..", "..", "packaging", "kubernetes", "tenant.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]config.Setting{}
	for _, s := range config.Settings() {
		known[s.Name] = s
	}
	values := map[string]string{ // for the placeholders
		"AZURE_STORAGE_CONNECTION_STRING": "UseDevelopmentStorage=true", "SUPABASE_KEY": "sb_secret_x",
		"SUPABASE_ANON_KEY": "sb_publishable_x", "OPENAI_API_KEY": "x",
		"WEBHOOK_SECRET": "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz", "HTTP_TOKEN": "0123456789abcdef0123456789abcdef",
	}
	var env []string
	for document := range strings.SplitSeq(string(file), "\n---\n") {
		secret := strings.Contains(document, "\nkind: Secret\n")
		if !secret && !strings.Contains(document, "\nkind: ConfigMap\n") {
			continue
		}
		names := regexp.MustCompile(`(?m)^  ([A-Z_]+): (.*)$`).FindAllStringSubmatch(document, -1)
		if len(names) < 3 {
			t.Errorf("too few settings in\n%s", document)
		}
		for _, m := range names {
			if s, ok := known[m[1]]; !ok || s.Secret != secret {
				t.Errorf("%s is not a setting, or in the wrong place", m[1])
			}
			value := strings.ReplaceAll(strings.Trim(m[2], `"`), "TENANT", "southhaven")
			if secret {
				if value != "CHANGE-ME" {
					t.Errorf("%s has a value", m[1])
				}
				value = values[m[1]]
			}
			env = append(env, m[1]+"="+value)
		}
	}
	if _, err := config.Load(config.Sources{Environ: env, ReadFile: os.ReadFile}, config.All); err != nil {
		t.Errorf("a worker would not start: %v", err)
	}
}

// TestDockerfile: the image has the programs that read documents, and its process is nobody.
func TestDockerfile(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile(filepath.Join("..", "..", "packaging", "container", "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.ReplaceAll(string(file), "\\\n", " "), "\n")
	instructions := map[string][]string{}
	for _, line := range lines {
		if word, rest, ok := strings.Cut(strings.TrimSpace(line), " "); ok && word != "#" {
			if word != strings.ToUpper(word) {
				t.Errorf("%q is not an instruction", line)
			}
			instructions[word] = append(instructions[word], rest)
		}
	}
	last := func(word string) string {
		all := instructions[word]
		if len(all) == 0 {
			t.Fatalf("there is no %s", word)
		}
		return all[len(all)-1]
	}
	defaults := map[string]string{"BUILDPLATFORM": "any"} // set by the builder
	for _, arg := range instructions["ARG"] {
		name, value, _ := strings.Cut(arg, "=")
		defaults[name] = value
	}
	bases := instructions["FROM"]
	for i := range bases {
		bases[i] = os.Expand(bases[i], func(name string) string { return defaults[name] })
	}
	for _, image := range bases {
		if !regexp.MustCompile(`(^|\s)[a-z]+:[\w.-]+@sha256:[0-9a-f]{64}( AS \w+)?$`).MatchString(image) {
			t.Errorf("FROM %s: pin the image by its digest", image)
		}
	}
	if !strings.HasPrefix(last("FROM"), "debian:bookworm-slim@") || last("USER") != "65532:65532" ||
		last("ENTRYPOINT") != `["/usr/bin/async-worker"]` {
		t.Errorf("FROM %s, USER %s, ENTRYPOINT %s", last("FROM"), last("USER"), last("ENTRYPOINT"))
	}
	for _, debianPackage := range []string{
		"ca-certificates", "poppler-utils", "poppler-data", "tesseract-ocr", "tesseract-ocr-eng",
	} {
		if !strings.Contains(last("RUN"), " "+debianPackage+" ") {
			t.Errorf("the image lacks %s", debianPackage)
		}
	}
	if !strings.Contains(strings.Join(instructions["RUN"], "\n"), "./cmd/async-worker") {
		t.Error("the program isn't built")
	}
}

// TestStartFitsTheUnit: START_MAX_SEC is less than the unit's TimeoutStartSec.
func TestStartFitsTheUnit(t *testing.T) {
	t.Parallel()
	unit, err := os.ReadFile(filepath.Join("..", "..", "systemd", "async-worker@.service"))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^TimeoutStartSec=(\d+)$`).FindSubmatch(unit)
	if m == nil {
		t.Fatal("the unit has no TimeoutStartSec")
	}
	patience, err := strconv.Atoi(string(m[1]))
	if err != nil {
		t.Fatal(err)
	}
	cfg, problems := load(t, minimal(), nil, nil)
	if problems != nil || cfg.StartMax < 2*time.Minute || cfg.StartMax > time.Duration(patience-45)*time.Second {
		t.Errorf("%v: a start waits for %v, and the unit for %d s", problems, cfg.StartMax, patience)
	}
}
