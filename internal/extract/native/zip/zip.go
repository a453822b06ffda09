// Package zip reads the members of a zip archive, each with the extractor of its own format, under its path in the
// archive.
package zip

import (
	"context"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/archive"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nested"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// New returns an extractor of archives. A member that can't be read is not an error, but a warning; an archive none
// of whose members can be read is an error.
func New(all nested.All) extract.Extractor { return nested.Container("native/zip", 2, all, read) }

func read(
	ctx context.Context, src extract.Source, limits extract.Limits, r *nested.Reader,
) (extract.Info, error) {
	a, err := archive.Open(src.Path, archive.Limits{
		Entries: limits.ZipEntries, Ratio: limits.ZipRatio, Bytes: limits.ZipBytes,
	})
	if err != nil {
		return extract.Info{}, err
	}
	defer func() { _ = a.Close() }() // read-only
	r.Mention = "File: "
	members := 0
	for _, entry := range a.Entries() {
		if err := ctx.Err(); err != nil {
			return extract.Info{}, fmt.Errorf("read an archive: %w", context.Cause(ctx))
		}
		if ofSystem(entry.Name) || entry.Size == 0 {
			continue
		}
		members++
		if err := r.Add(decode(entry.Name), 1, entry.Open); err != nil {
			return extract.Info{}, err
		}
	}
	switch reason := r.FirstMissed(); {
	case members == 0:
		return extract.Info{}, taskerr.Errorf(taskerr.CorruptionDetected, "the zip archive has no files with content")
	case reason != "" && r.Succeeded() == 0:
		return extract.Info{}, taskerr.Errorf(taskerr.UnsupportedFormat,
			"none of the %d files in the zip archive can be read; the first: %s", members, reason)
	}
	return extract.Info{}, nil
}

// ofSystem recognizes what operating systems add to folders.
func ofSystem(name string) bool {
	base := path.Base(name)
	return strings.HasPrefix(name, "__MACOSX/") || base == ".DS_Store" || strings.EqualFold(base, "Thumbs.db") ||
		strings.EqualFold(base, "desktop.ini")
}

// decode returns a name as UTF-8: programs write the code page of their system, which was 437 when the format was
// defined (APPNOTE.TXT, appendix D).
func decode(name string) string {
	name = strings.ReplaceAll(name, `\`, "/")
	if utf8.ValidString(name) {
		return name
	}
	text, err := charmap.CodePage437.NewDecoder().String(name)
	if err != nil {
		return strings.ToValidUTF8(name, "�")
	}
	return text
}
