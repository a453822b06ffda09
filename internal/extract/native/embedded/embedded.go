// Package embedded reads the files that are embedded in Office documents: other Office files, and the objects that
// other programs have put there ([MS-OLEDS], ECMA-376 part 1, 15.2.10 and 15.2.11).
package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/archive"
	"github.com/seed-7227ef26/async-worker/internal/extract/compound"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nested"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

// With returns inner, an extractor of Office documents, with the files within them after their end.
func With(inner extract.Extractor, all nested.All) extract.Extractor {
	return nested.With(inner, all, list)
}

// objectName matches the objects of OpenDocument files that are not documents of their own.
var objectName = pattern.New(`^Object \d+$`)

func list(ctx context.Context, src extract.Source, limits extract.Limits, files *nested.Reader) error {
	a, err := archive.Open(src.Path, archive.Limits{
		Entries: limits.ZipEntries, Ratio: limits.ZipRatio, Bytes: limits.ZipBytes,
	})
	if err != nil {
		return err
	}
	defer func() { _ = a.Close() }() // read-only
	l := lister{ctx, a, files}
	office := false
	for _, name := range a.Files() {
		if strings.Contains(name, "/embeddings/") {
			office = true
		}
		if objectName.MatchString(name) {
			if err := l.part(name); err != nil {
				return err
			}
		}
	}
	if !office {
		return nil
	}
	parts, err := related(ctx, src.Path, limits, a)
	if err != nil {
		return err
	}
	for _, part := range parts {
		if err := l.part(part); err != nil {
			return err
		}
	}
	return nil
}

// related returns the embedded parts, except the data of charts, which the charts show.
func related(ctx context.Context, file string, limits extract.Limits, a *archive.Archive) ([]string, error) {
	pkg, err := ooxml.Open(file, limits)
	if err != nil {
		return nil, err
	}
	defer func() { _ = pkg.Close() }() // read-only
	names := a.Files()
	embedded := map[string]bool{}
	for _, name := range names {
		folder, base := path.Split(name)
		if !strings.HasSuffix(folder, "_rels/") || strings.Contains(folder, "charts/") {
			continue
		}
		of := strings.TrimSuffix(folder, "_rels/") + strings.TrimSuffix(base, ".rels")
		relations, err := pkg.Relations(ctx, of)
		if err != nil {
			return nil, err
		}
		for _, relation := range relations {
			if relation.Type == "package" || relation.Type == "oleObject" {
				embedded[relation.Target] = true
			}
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return !embedded[name] }), nil
}

type lister struct {
	ctx   context.Context //nolint:containedctx // it lives as long as one call of list
	a     *archive.Archive
	files *nested.Reader
}

// part reads an embedded part: a file, or a compound file around one.
func (l lister) part(part string) error {
	if err := l.ctx.Err(); err != nil {
		return fmt.Errorf("read embedded files: %w", context.Cause(l.ctx))
	}
	name := path.Base(part)
	saved, err := l.save(part)
	if err != nil {
		return l.files.Refused(name, err)
	}
	object, err := compound.Open(saved)
	if err != nil { // a file as it is
		return l.files.Attached(saved, name, 1)
	}
	defer func() { _ = object.Close() }() // read-only
	content, label, err := unwrap(object)
	switch {
	case errors.Is(err, errDocument):
		return l.files.Attached(saved, name, 1)
	case err != nil:
		l.files.Missed(name, err.Error())
		return nil
	}
	defer func() { _ = os.Remove(saved) }() // removed with its folder at the latest
	if label != "" {
		name = label
	}
	return l.files.Add(name, 1, func() (io.ReadCloser, error) { return io.NopCloser(content), nil })
}

func (l lister) save(part string) (string, error) {
	content, err := l.a.Part(part)
	if err != nil {
		return "", err
	}
	saved, err := l.files.Save(content)
	return saved, errors.Join(err, content.Close())
}
