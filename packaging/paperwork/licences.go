package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// module is what is in the binary: a Go module that it was linked with, or a package of others whose files it embeds.
type module struct {
	ecosystem     string // as in a package URL: golang, npm
	path, version string
	sum           string            // as go.sum has it, h1:…; empty for the standard library
	files         map[string]string // SHA-256 by name, of a package whose files are embedded
	folder        string            // its source
	texts         []text            // its licences and notices
	licences      []string
}

func (m module) packageURL() string { return "pkg:" + m.ecosystem + "/" + m.path + "@" + m.version }

type text struct {
	file string
	body []byte
}

// allowed are the licences (SPDX) under which a binary may be given on as we do: with their texts, without the source.
var allowed = []string{
	"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MIT-0", "MPL-2.0", "Unlicense", "Zlib",
}

// grants give more than a licence does.
var grants = []string{"GooglePatentClause", "GooglePatentsFile"}

var licenceFile = regexp.MustCompile(`(?i)^((un)?licen[cs]e|copying|notice|copyright|patents)([-._].*)?$`)

// linked lists the modules of a binary with their licences, the standard library first. A module without a known licence is an error: it must be looked at before it is given to others.
func linked(ctx context.Context, info *buildinfo.BuildInfo) ([]module, error) {
	sources, err := moduleSources(ctx, info)
	if err != nil {
		return nil, err
	}
	goRoot, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	goVersion, _, _ := strings.Cut(strings.TrimPrefix(info.GoVersion, "go"), " ")
	all := []module{{ecosystem: "golang", path: "std", version: goVersion, folder: strings.TrimSpace(string(goRoot))}}
	for _, d := range info.Deps {
		if d.Replace != nil {
			d = d.Replace
		}
		all = append(all, module{
			ecosystem: "golang", path: d.Path, version: d.Version, sum: d.Sum, folder: sources[d.Path].Dir,
		})
	}
	for i := range all {
		if err := all[i].readLicences(); err != nil {
			return nil, fmt.Errorf("the licence of %s %s: %w", all[i].path, all[i].version, err)
		}
	}
	return all, nil
}

// source is what the go command knows of a module: Dir is the folder of its source.
type source struct{ Path, Version, Sum, Dir string }

// moduleSources asks the go command about the modules of a binary, by path.
func moduleSources(ctx context.Context, info *buildinfo.BuildInfo) (map[string]source, error) {
	args := []string{"list", "-m", "-json"}
	for _, d := range info.Deps {
		args = append(args, d.Path)
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list -m: %w: %s", err, problems.String())
	}
	sources := map[string]source{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var m source
		if err := d.Decode(&m); err == io.EOF {
			return sources, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list -m: %w", err)
		}
		sources[m.Path] = m
	}
}

func (m *module) readLicences() error {
	entries, err := os.ReadDir(m.folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() || !licenceFile.MatchString(e.Name()) {
			continue
		}
		body, err := os.ReadFile(filepath.Join(m.folder, e.Name()))
		if err != nil {
			return err
		}
		if err := m.addLicences(text{e.Name(), body}); err != nil {
			return err
		}
	}
	if len(m.licences) == 0 {
		return fmt.Errorf("none is known in %s", m.folder)
	}
	slices.Sort(m.licences)
	return nil
}

func (m *module) addLicences(t text) error {
	m.texts = append(m.texts, t)
	for _, match := range licensecheck.Scan(t.body).Match {
		switch {
		case match.IsURL || slices.Contains(grants, match.ID) || slices.Contains(m.licences, match.ID):
		case slices.Contains(allowed, match.ID):
			m.licences = append(m.licences, match.ID)
		default:
			return fmt.Errorf("%s is %s, which is none of %v", t.file, match.ID, allowed)
		}
	}
	return nil
}

// writeNotices writes the whole texts, as most licences demand of who gives a binary on.
func writeNotices(w io.Writer, modules []module) error {
	fmt.Fprintln(w, "What /usr/bin/async-worker contains of others, with the licences and notices of each.")
	for _, m := range modules {
		for _, t := range m.texts {
			fmt.Fprintf(w, "\n%s\n%s %s: %s\n\n%s\n", strings.Repeat("=", 100), m.path, m.version, t.file,
				bytes.TrimSpace(t.body))
		}
	}
	return nil
}

// writeCopyright writes the package's copyright file
// (www.debian.org/doc/packaging-manuals/copyright-format/1.0): ours, and a line for each module and package.
func writeCopyright(w io.Writer, o options, modules []module) error {
	fmt.Fprintf(w, `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: async-worker
Comment:
 The program contains the modules and packages below. The texts of their
 licences, with their copyright notices, are in third-party-notices.gz beside
 this file.
`)
	for _, m := range modules {
		fmt.Fprintf(w, " .\n %s %s: %s\n", m.path, m.version, strings.Join(m.licences, ", "))
	}
	_, err := fmt.Fprintf(w, `
Files: *
Copyright: %d the authors of async-worker
License: Apache-2.0

License: Apache-2.0
 Licensed under the Apache License, Version 2.0 (the "License"); you may not use
 this file except in compliance with the License. Unless required by applicable
 law or agreed to in writing, software distributed under the License is
 distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND,
 either express or implied.
 .
 On Debian systems the complete text of the license is in
 /usr/share/common-licenses/Apache-2.0.
`, o.date.Year())
	return err
}
