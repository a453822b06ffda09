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

// TestKubernetesSettings: what packaging/kubernetes sets are settings, secrets where secrets belong.
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
	values := map[string]string{ // in place of what is to be changed
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
				t.Errorf("%s is no setting, or in the wrong place", m[1])
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

// TestDockerfile: the image has what documents are read with, and its process is nobody.
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
				t.Errorf("%q is no instruction", line)
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
	defaults := map[string]string{"BUILDPLATFORM": "any"} // which the builder sets
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
			t.Errorf("FROM %s: an image is named with its digest, so that it is the one that was looked at", image)
		}
	}
	if !strings.HasPrefix(last("FROM"), "debian:bookworm-slim@") || last("USER") != "65532:65532" ||
		last("ENTRYPOINT") != `["/usr/bin/async-worker"]` {
		t.Errorf("FROM %s, USER %s, ENTRYPOINT %s", last("FROM"), last("USER"), last("ENTRYPOINT"))
	}
	for _, debianPackage := range []string{"ca-certificates", "poppler-utils", "tesseract-ocr", "tesseract-ocr-eng"} {
		if !strings.Contains(last("RUN"), " "+debianPackage+" ") {
			t.Errorf("the image lacks %s", debianPackage)
		}
	}
	if !strings.Contains(strings.Join(instructions["RUN"], "\n"), "./cmd/async-worker") {
		t.Error("the program isn't built")
	}
}

// TestStartFitsTheUnit: what a start waits for by itself ends before systemd's patience with it.
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
