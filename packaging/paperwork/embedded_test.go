package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

const vendored = "../../internal/dashboard/static/vendor"

// paper is one of this test's own program, which is linked with some of the modules.
func paper(t *testing.T, args ...string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	args = append(args, "-binary", self, "-version", "1.2.3", "-vendored", vendored)
	if err := run(t.Context(), args, &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// The bill of materials says that it is complete: each file of others that is embedded is in it with its package, and the
// notices have the text of that package's licence.
func TestEmbeddedIsListed(t *testing.T) {
	t.Parallel()
	bom := new(cdx.BOM)
	if err := cdx.NewBOMDecoder(strings.NewReader(paper(t, "sbom")), cdx.BOMFileFormatJSON).Decode(bom); err != nil {
		t.Fatal(err)
	}
	notices, copyright := paper(t, "notices"), paper(t, "copyright")
	owners := map[string]cdx.Component{} // by the SHA-256 of a file
	for _, c := range *bom.Components {
		if c.Components == nil {
			continue
		}
		if !slices.Contains(*(*bom.Dependencies)[0].Dependencies, c.BOMRef) {
			t.Errorf("the program does not depend on %s", c.BOMRef)
		}
		for _, file := range *c.Components {
			owners[(*file.Hashes)[0].Value] = c
		}
	}
	files, err := filepath.Glob(filepath.Join(vendored, "*.js"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%q, %v", files, err)
	}
	var all strings.Builder
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(content)
		c, ok := owners[hex.EncodeToString(sum[:])]
		if !ok || c.PackageURL != "pkg:npm/"+c.Name+"@"+c.Version || c.Licenses == nil {
			t.Errorf("%s is of the component %+v", file, c)
		}
		if !strings.Contains(notices, "\n"+c.Name+" "+c.Version+": LICENSE\n") ||
			!strings.Contains(copyright, "\n "+c.Name+" "+c.Version+": ") {
			t.Errorf("%s: %s %s is not in the notices, or in the copyright file", file, c.Name, c.Version)
		}
		all.WriteString(string(content))
	}
	licence, err := os.ReadFile(filepath.Join(vendored, "LICENSE"))
	if err != nil || !strings.Contains(notices, string(bytes.TrimSpace(licence))) {
		t.Errorf("the text of the licence is not in the notices; %v", err)
	}
	for _, c := range owners {
		if !strings.Contains(all.String(), c.Version) {
			t.Errorf("no file of %s says that it is %s", c.Name, c.Version)
		}
	}
}

// Without a Debian package the bill of materials names the program alone, and without a date it has none.
func TestImage(t *testing.T) {
	t.Parallel()
	var bom struct {
		Metadata struct {
			Timestamp string
			Component struct{ Purl string }
		}
	}
	if err := json.Unmarshal([]byte(paper(t, "sbom", "-deb=false")), &bom); err != nil {
		t.Fatal(err)
	}
	if m := bom.Metadata; m.Component.Purl != "pkg:golang/github.com/seed-7227ef26/async-worker@1.2.3" || m.Timestamp != "" {
		t.Errorf("%+v", m)
	}
}

// Whoever renews, adds or changes a file of others has to say so in the list.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	licence, err := os.ReadFile(filepath.Join(vendored, "LICENSE"))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte("old"))
	for name, c := range map[string]struct{ file, content, licence, says string }{
		"as listed":  {"a.js", "old", string(licence), ""},
		"renewed":    {"a.js", "new", string(licence), "a.js is another file than packages.json lists"},
		"added":      {"b.js", "old", string(licence), "b.js is embedded, and no package in packages.json has it"},
		"no licence": {"a.js", "old", "All rights reserved.", "LICENSE is no licence that is known"},
	} {
		folder := t.TempDir()
		list := `[{"name": "a", "version": "1.0.0", "licence": "LICENSE", "files": {"a.js": "` + hex.EncodeToString(sum[:]) + `"}}]`
		err := errors.Join(
			os.WriteFile(filepath.Join(folder, "a.js"), []byte("old"), 0o600),
			os.WriteFile(filepath.Join(folder, c.file), []byte(c.content), 0o600),
			os.WriteFile(filepath.Join(folder, "LICENSE"), []byte(c.licence), 0o600),
			os.WriteFile(filepath.Join(folder, packageList), []byte(list), 0o600),
		)
		if err != nil {
			t.Fatal(err)
		}
		all, err := embedded(folder)
		if c.says == "" && (err != nil || len(all) != 1 || all[0].packageURL() != "pkg:npm/a@1.0.0") {
			t.Errorf("%s: %+v, %v", name, all, err)
		}
		if c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v; want: %s", name, err, c.says)
		}
	}
}
