package contract_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/seed-7227ef26/async-worker/test/contract"
	"github.com/seed-7227ef26/async-worker/test/generated"
)

// TestSchemas: docs/schemas are what the types make; make docs writes them.
func TestSchemas(t *testing.T) {
	t.Chdir("../..") // the comments' packages are named by their folders
	files, err := contract.Schemas(".")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		path := filepath.Join("docs/schemas", name)
		generated.File(t, path, string(want))
		var all map[string]any
		if err := json.Unmarshal(want, &all); err != nil {
			t.Error(err)
		}
		for _, place := range undescribed(all, name) {
			t.Errorf("%s has no description", place)
		}
	}
}

// undescribed lists the fields without a description.
func undescribed(schema any, place string) (found []string) {
	switch s := schema.(type) {
	case map[string]any:
		for key, value := range s {
			if fields, ok := value.(map[string]any); ok && key == "properties" && s["type"] != nil {
				for name, field := range fields {
					if about, ok := field.(map[string]any); !ok || about["description"] == nil &&
						about["oneOf"] == nil && about["const"] == nil {
						found = append(found, place+": "+name)
					}
				}
			}
			found = append(found, undescribed(value, place+"/"+key)...)
		}
	case []any:
		for _, value := range s {
			found = append(found, undescribed(value, place)...)
		}
	}
	return found
}
