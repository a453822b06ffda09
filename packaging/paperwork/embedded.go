package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// packageList is the file in the folder of vendored files that says which package each one is of.
const packageList = "packages.json"

// npmPackage is one that packageList names.
type npmPackage struct {
	Name, Version string
	Licence       string            // the file with its licence
	Files         map[string]string // SHA-256 by name, in hexadecimal digits
}

// embedded lists the npm packages whose files are in a folder that the binary embeds. A file that is none of a package's,
// or that is not the one that was listed, is an error: whoever renews a file has to say of which version it is.
func embedded(folder string) ([]module, error) {
	raw, err := os.ReadFile(filepath.Join(folder, packageList))
	if err != nil {
		return nil, fmt.Errorf("read what is embedded: %w", err)
	}
	var packages []npmPackage
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&packages); err != nil {
		return nil, fmt.Errorf("read what is embedded: %s: %w", filepath.Join(folder, packageList), err)
	}
	known := []string{packageList, "README.md"}
	var all []module
	for _, p := range packages {
		m, err := p.module(folder)
		if err != nil {
			return nil, fmt.Errorf("%s %s in %s: %w", p.Name, p.Version, folder, err)
		}
		all, known = append(all, m), append(known, p.Licence)
		for name := range p.Files {
			known = append(known, name)
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !slices.Contains(known, e.Name()) {
			return nil, fmt.Errorf("%s is embedded, and no package in %s has it; list it there with its package, version "+
				"and SHA-256", filepath.Join(folder, e.Name()), packageList)
		}
	}
	return all, nil
}

func (p npmPackage) module(folder string) (module, error) {
	m := module{ecosystem: "npm", path: p.Name, version: p.Version, files: p.Files, folder: folder}
	for name, want := range p.Files {
		content, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return m, err
		}
		sum := sha256.Sum256(content)
		if got := hex.EncodeToString(sum[:]); got != want {
			return m, fmt.Errorf("%s is another file than %s lists: its SHA-256 is %s; change the version there, too",
				name, packageList, got)
		}
	}
	body, err := os.ReadFile(filepath.Join(folder, p.Licence))
	if err != nil {
		return m, err
	}
	if err := m.addLicences(text{p.Licence, body}); err != nil {
		return m, err
	}
	if len(m.licences) == 0 {
		return m, fmt.Errorf("%s is no licence that is known; look at it before it is given to others", p.Licence)
	}
	slices.Sort(m.licences)
	return m, nil
}
