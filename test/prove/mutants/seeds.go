// Package mutants makes damaged documents from whole ones, and has them read by another process. The seed of a run,
// a format and a number identify a mutant, so that each can be made again.
//
// Most changes know the format: they change entries inside a zip and pack them again, XML and HTML by tags and
// attributes, texts by lines and by the words of their format. They are to reach the readers behind the zip reader
// and the tokenizer.
package mutants

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// Seed is a document from which mutants are made.
type Seed struct {
	Name    string // with its extension
	Content []byte
	entries []entry // of a zip
}

// samples has a document of each format: a folder with an extension is packed to a zip, a file is used as it is.
//
//go:embed all:samples
var samples embed.FS

// Seeds returns the samples, those of dev/samples, and the files of more folders that exist (of real documents,
// which are not part of the project), by the format that extract.Detect returns.
func Seeds(folders ...string) (map[string][]Seed, error) {
	seeds, err := embedded()
	if err != nil {
		return nil, err
	}
	images, err := pictures()
	if err != nil {
		return nil, err
	}
	seeds = append(seeds, images...)
	for _, folder := range folders {
		paths, err := filepath.Glob(filepath.Join(folder, "*"))
		if err != nil {
			return nil, err
		}
		for _, p := range paths {
			if info, err := os.Stat(p); err != nil || !info.Mode().IsRegular() {
				continue
			}
			content, err := os.ReadFile(p)
			if err != nil {
				return nil, err
			}
			seeds = append(seeds, Seed{filepath.Base(p), content, unpack(content)})
		}
	}
	byFormat := map[string][]Seed{}
	for _, s := range seeds {
		format, err := s.format()
		if err != nil {
			return nil, err
		}
		byFormat[format] = append(byFormat[format], s)
	}
	for _, all := range byFormat {
		slices.SortFunc(all, func(a, b Seed) int { return strings.Compare(a.Name, b.Name) })
	}
	return byFormat, nil
}

func embedded() (seeds []Seed, err error) {
	top, err := samples.ReadDir("samples")
	if err != nil {
		return nil, err
	}
	for _, sample := range top {
		root := path.Join("samples", sample.Name())
		if !sample.IsDir() {
			content, err := samples.ReadFile(root)
			if err != nil {
				return nil, err
			}
			seeds = append(seeds, Seed{sample.Name(), content, nil})
			continue
		}
		var all []entry
		if text, err := samples.ReadFile(path.Join(root, "mimetype")); err == nil { // it comes first
			all = append(all, entry{"mimetype", []byte(strings.TrimSpace(string(text)))})
		}
		err := fs.WalkDir(samples, root, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || d.Name() == "mimetype" {
				return err
			}
			content, err := samples.ReadFile(p)
			all = append(all, entry{strings.TrimPrefix(p, root+"/"), content})
			return err
		})
		if err != nil {
			return nil, err
		}
		seeds = append(seeds, Seed{sample.Name(), pack(all), all})
	}
	return seeds, nil
}

// format is the detected format of the seed; if none is detected, its extension.
func (s Seed) format() (string, error) {
	file, err := os.CreateTemp("", "seed-")
	if err != nil {
		return "", err
	}
	defer os.Remove(file.Name())
	_, err = file.Write(s.Content)
	if e := file.Close(); err == nil {
		err = e
	}
	if err != nil {
		return "", fmt.Errorf("detect the format of %s: %w", s.Name, err)
	}
	format, err := extract.Detect(file.Name(), s.Name)
	if err != nil || format == extract.Unknown || format == extract.Zip || format == extract.OLE {
		return strings.TrimPrefix(path.Ext(s.Name), "."), nil
	}
	return string(format), nil
}
