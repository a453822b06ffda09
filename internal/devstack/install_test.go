package devstack

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Packages are installed if they are those of the lock file, whichever file is the newer one: `npm ci` first removes
// the packages that others use.
func TestInstalled(t *testing.T) {
	t.Parallel()
	const (
		project = `"": {"name": "stack"}`
		one     = `"node_modules/a": {"version": "1.0.0", "integrity": "sha512-a"}`
		other   = `"node_modules/a": {"version": "1.0.1", "integrity": "sha512-b"}`
		foreign = `"node_modules/b": {"version": "2.0.0", "integrity": "sha512-c", "optional": true}`
	)
	for name, c := range map[string]struct {
		lock, made string
		want       bool
	}{
		"nothing":                         {one, "", false},
		"cut off":                         {one, "}" + one, false},
		"all":                             {project + "," + one, one, true},
		"for another platform":            {one + "," + foreign, one, true},
		"another version":                 {project + "," + other, one, false},
		"another version of an optional":  {foreign, strings.Replace(foreign, "2.0.0", "1.9.0", 1), false},
		"one more in the lock file":       {one + `,"node_modules/c": {"version": "1.0.0"}`, one, false},
		"the same package, another build": {one, strings.Replace(one, "sha512-a", "sha512-z", 1), false},
	} {
		dev := t.TempDir()
		made := filepath.Join(dev, "node_modules", ".package-lock.json")
		err := errors.Join(os.Mkdir(filepath.Dir(made), 0o755),
			os.WriteFile(filepath.Join(dev, "package-lock.json"), []byte(`{"packages": {`+c.lock+`}}`), 0o600))
		if c.made != "" {
			old := time.Now().Add(-time.Hour)
			err = errors.Join(err, os.WriteFile(made, []byte(`{"packages": {`+c.made+`}}`), 0o600), os.Chtimes(made, old, old))
		}
		if err != nil {
			t.Fatal(err)
		}
		if got, err := installed(dev); err != nil || got != c.want {
			t.Errorf("%s: installed is %v (%v), want %v", name, got, err, c.want)
		}
	}
}
