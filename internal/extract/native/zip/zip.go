// Package zip reads the members of a zip archive, each with the extractor of its own format, under its path in the
// archive.
package zip

import (
	"context"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/archive"
	"github.com/seed-7227ef26/async-worker/internal/extract/charset"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nested"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// New returns an extractor of archives. A member that can't be read is not an error, but a warning; an archive none
// of whose members can be read is an error.
func New(all nested.All) extract.Extractor { return nested.Container("native/zip", 3, all, read) }

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
	members, entries := 0, a.Entries()
	names := namesOf(entries)
	for _, entry := range entries {
		if err := ctx.Err(); err != nil {
			return extract.Info{}, fmt.Errorf("read an archive: %w", context.Cause(ctx))
		}
		if ofSystem(entry.Name) || entry.Size == 0 {
			continue
		}
		members++
		if err := r.Add(names.decode(entry.Name), 1, entry.Open); err != nil {
			return extract.Info{}, err
		}
	}
	switch reason := r.FirstMissed(); {
	case members == 0:
		return extract.Info{}, taskerr.Errorf(taskerr.CorruptionDetected, "the zip archive has no files with content")
	case reason != "" && r.Succeeded() == 0:
		return extract.Info{}, taskerr.Errorf(taskerr.UnsupportedFormat,
			"none of the %d files in the zip archive can be read, the first: %s", members, reason)
	}
	return extract.Info{}, nil
}

// ofSystem recognizes what operating systems add to folders.
func ofSystem(name string) bool {
	base := path.Base(name)
	return strings.HasPrefix(name, "__MACOSX/") || base == ".DS_Store" || strings.EqualFold(base, "Thumbs.db") ||
		strings.EqualFold(base, "desktop.ini")
}

// names decodes the names of members to UTF-8. Programs write the code page of their system, which is not declared: it was
// 437 when the format was defined (APPNOTE.TXT, appendix D), and is another one in Russia, China or Japan.
type names struct{ code *encoding.Decoder }

// namesOf finds the code page of all names together: one alone is often too short to tell.
func namesOf(entries []archive.Entry) names {
	var all []byte
	for _, entry := range entries {
		if !utf8.ValidString(entry.Name) {
			all = append(append(all, entry.Name...), '\n')
		}
	}
	if name, _ := charset.Detect(all); name != "" {
		return names{name.Decoder()}
	}
	return names{charmap.CodePage437.NewDecoder()}
}

// decode returns a name as UTF-8, with slashes between folders.
func (n names) decode(name string) string {
	if !utf8.ValidString(name) {
		text, err := n.code.String(name)
		if err != nil {
			text = strings.ToValidUTF8(name, "\uFFFD")
		}
		name = text
	}
	return strings.ReplaceAll(name, `\`, "/")
}
