package check

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"
)

// TestKEDA: the objects fit the schemas of its release, with no unknown field, and triggers have no unknown metadata.
func TestKEDA(t *testing.T) {
	t.Parallel()
	for file, c := range map[string]struct {
		objects int
		trigger string
		looks   func(trigger) string // what it looks at
		want    []string
		login   bool
	}{
		"tenant.yaml": {
			2, "azure-queue", func(o trigger) string { return o.Metadata["queueName"] },
			[]string{tenant + "-tasks-high", tenant + "-tasks", tenant + "-tasks-low"},
			true,
		},
		"scale-nats.yaml": {
			1, "nats-jetstream", func(o trigger) string { return o.Metadata["stream"] + " " + o.Metadata["consumer"] },
			[]string{
				"SIMPLE-PROCESS-JOBS ocr-workers-high", "SIMPLE-PROCESS-JOBS ocr-workers",
				"SIMPLE-PROCESS-JOBS ocr-workers-low",
			},
			false,
		},
		"scale-postgres.yaml": {
			2, "postgresql", func(o trigger) string { return regexp.MustCompile(`aw_\w+`).FindString(o.Metadata["query"]) },
			[]string{"aw_queue_depth", "aw_due_schedules"},
			true,
		},
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			target, triggers, seen := scaled(t, file)
			if seen != c.objects || target != "async-worker-"+tenant {
				t.Fatalf("%d objects of KEDA; the target is %q", seen, target)
			}
			looks := map[string]bool{}
			for _, one := range triggers {
				if one.Type == c.trigger {
					looks[c.looks(one)] = !c.login || one.AuthenticationRef.Name == "async-worker-"+tenant
				}
			}
			for _, q := range c.want {
				if !looks[q] {
					t.Errorf("no trigger, or none that may look, for %s", q)
				}
			}
		})
	}
}

type trigger struct {
	Type              string
	Metadata          map[string]string
	AuthenticationRef struct{ Name string }
}

// scaled checks the objects of KEDA in a file and returns what is scaled, by what, and how many objects there are.
func scaled(t *testing.T, file string) (target string, triggers []trigger, seen int) {
	t.Helper()
	keda := moduleDir(t, "github.com/kedacore/keda/v2")
	known := map[string]string{
		"azure-queue": "azure_queue_scaler.go", "cron": "cron_scaler.go",
		"nats-jetstream": "nats_jetstream_scaler.go", "postgresql": "postgresql_scaler.go",
	}
	for _, o := range objects(t, file) {
		if !strings.HasPrefix(o.APIVersion, "keda.sh/") {
			continue
		}
		seen++
		crd := filepath.Join(keda, "config/crd/bases/keda.sh_"+strings.ToLower(o.Kind)+"s.yaml")
		var instance any
		if err := yaml.Unmarshal(o.text, &instance); err != nil {
			t.Fatal(err)
		}
		if err := schemaOf(t, crd, strings.TrimPrefix(o.APIVersion, "keda.sh/")).Validate(instance); err != nil {
			t.Errorf("%s: %v", o.Kind, err)
		}
		if o.Kind != "ScaledObject" {
			continue
		}
		var object struct {
			Spec struct {
				ScaleTargetRef struct{ Name string }
				Triggers       []trigger
			}
		}
		if err := yaml.Unmarshal(o.text, &object); err != nil {
			t.Fatal(err)
		}
		target, triggers = object.Spec.ScaleTargetRef.Name, object.Spec.Triggers
	}
	for _, one := range triggers {
		source, err := os.ReadFile(filepath.Join(keda, "pkg/scalers", known[one.Type]))
		if err != nil {
			t.Fatalf("trigger %q: %v", one.Type, err)
		}
		for key := range one.Metadata {
			if !regexp.MustCompile(`keda:"name=` + regexp.QuoteMeta(key) + `,`).Match(source) {
				t.Errorf("the trigger %s knows no %s", one.Type, key)
			}
		}
	}
	return target, triggers, seen
}

func moduleDir(t *testing.T, module string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// schemaOf is the schema of a version in a CustomResourceDefinition. Fields that it doesn't name are errors, though
// Kubernetes would drop them without a word.
func schemaOf(t *testing.T, path, version string) *jsonschema.Schema {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var crd struct {
		Spec struct {
			Versions []struct {
				Name   string
				Schema struct{ OpenAPIV3Schema map[string]any }
			}
		}
	}
	if err := yaml.Unmarshal(text, &crd); err != nil {
		t.Fatal(err)
	}
	for _, v := range crd.Spec.Versions {
		if v.Name != version {
			continue
		}
		schema := v.Schema.OpenAPIV3Schema
		delete(schema["properties"].(map[string]any), "metadata") // Kubernetes' own
		closeObjects(schema)
		schema["properties"].(map[string]any)["metadata"] = map[string]any{"type": "object"}
		raw, err := json.Marshal(schema)
		if err != nil {
			t.Fatal(err)
		}
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		compiler := jsonschema.NewCompiler()
		if err := compiler.AddResource("crd.json", document); err != nil {
			t.Fatal(err)
		}
		compiled, err := compiler.Compile("crd.json")
		if err != nil {
			t.Fatal(err)
		}
		return compiled
	}
	t.Fatalf("%s has no version %s", path, version)
	return nil
}

// closeObjects forbids fields that aren't named.
func closeObjects(schema any) {
	switch s := schema.(type) {
	case map[string]any:
		if _, named := s["properties"].(map[string]any); named && s["additionalProperties"] == nil &&
			s["x-kubernetes-preserve-unknown-fields"] == nil {
			s["additionalProperties"] = false
		}
		for _, v := range s {
			closeObjects(v)
		}
	case []any:
		for _, v := range s {
			closeObjects(v)
		}
	}
}
