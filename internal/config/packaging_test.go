package config_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

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
			if s, ok := known[m[1]]; (!ok || s.Secret != secret) && m[1] != "HTTP_TOKEN" {
				t.Errorf("%s is no setting, or in the wrong place", m[1])
			}
			if secret && m[2] != "CHANGE-ME" {
				t.Errorf("%s has a value", m[1])
			}
		}
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
	if last("FROM") != "debian:bookworm-slim" || last("USER") != "65532:65532" || last("ENTRYPOINT") != `["/usr/bin/async-worker"]` {
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
