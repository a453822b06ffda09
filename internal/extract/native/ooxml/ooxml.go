// Package ooxml reads what the Office Open XML formats share: the package of parts and their relations
// (ECMA-376 part 2), metered streams of XML tokens, and the core properties. Other zipped XML formats use its
// parts and streams.
package ooxml

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/archive"
	"github.com/seed-7227ef26/async-worker/internal/pattern"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Package is an open file. It is not safe for concurrent use.
type Package struct {
	archive *archive.Archive
	depth   int
	cut     bool // a text was not read in full
}

// Open opens a file. Errors are those of archive.Open.
func Open(path string, limits extract.Limits) (*Package, error) {
	limits = limits.WithDefaults()
	a, err := archive.Open(path, archive.Limits{
		Entries: limits.ZipEntries, Ratio: limits.ZipRatio, Bytes: limits.ZipBytes,
	})
	if err != nil {
		return nil, err
	}
	return &Package{archive: a, depth: limits.XMLDepth}, nil
}

// Close closes the file.
func (p *Package) Close() error { return p.archive.Close() }

// Read calls read with the tokens of a part. Its error is fs.ErrNotExist for a missing part, and a
// *taskerr.Error of corruption_detected for XML that is not well-formed.
func (p *Package) Read(ctx context.Context, part string, read func(*Decoder) error) error {
	rc, err := p.archive.Part(part)
	if err != nil {
		return err
	}
	defer func() { _ = rc.Close() }() // read-only
	d := newDecoder(ctx, rc, p.depth)
	defer func() { p.cut = p.cut || d.cut }()
	return explain(read(d), part, d.line())
}

// Part opens a part that is not XML. Errors are those of archive.Archive.Part.
func (p *Package) Part(part string) (io.ReadCloser, error) { return p.archive.Part(part) }

// explain makes an error sentence of an XML error. It states the place only, because the details would quote
// the document.
func explain(err error, part string, line int) error {
	switch {
	case errors.Is(err, errMalformed), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
	default:
		return err
	}
	if _, ok := errors.AsType[*taskerr.Error](err); ok {
		return err
	}
	where := fmt.Sprintf("line %d", line)
	if partName.MatchString(part) {
		where += " of " + part
	}
	return taskerr.Errorf(taskerr.CorruptionDetected,
		"the XML within the document is damaged (%s): save it again and upload it", where)
}

// partName matches part names that are safe to show.
var partName = pattern.New(`^[A-Za-z0-9_./ -]{1,80}$`)

// Optional returns err, or nil for a missing part.
func Optional(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Relation is the target of a relation.
type Relation struct {
	URI    string // its type
	Type   string // the last segment of the type, for example "styles"
	Target string // the part's name without a leading slash; for an external target, its URI

	External bool // Target is not in the package
}

// Relations returns the relations of a part by id, or those of the package for "". A part may have none.
func (p *Package) Relations(ctx context.Context, part string) (map[string]Relation, error) {
	dir, base := path.Split(part)
	relations := map[string]Relation{}
	err := p.Read(ctx, dir+"_rels/"+base+".rels", func(d *Decoder) error {
		return d.Each(func(start xml.StartElement) error {
			if start.Name.Local != "Relationship" {
				return nil
			}
			target := Attr(start, "Target")
			external := Attr(start, "TargetMode") == "External"
			if !external {
				target = resolve(dir, target)
			}
			uri := Attr(start, "Type")
			relations[Attr(start, "Id")] = Relation{URI: uri, Type: path.Base(uri), Target: target, External: external}
			return nil
		})
	})
	return relations, Optional(err)
}

func resolve(dir, target string) string {
	if strings.HasPrefix(target, "/") {
		return strings.TrimPrefix(path.Clean(target), "/")
	}
	return strings.TrimPrefix(path.Join("/", dir, target), "/")
}

// Attr returns an attribute's value by its local name, or "". No element that is read has two attributes with
// the same local name.
func Attr(start xml.StartElement, local string) string {
	for _, a := range start.Attr {
		if a.Name.Local == local {
			return a.Value
		}
	}
	return ""
}

// RelationID returns the value of an element's r:id, or of another attribute of that namespace, or "".
func RelationID(start xml.StartElement, local string) string {
	for _, a := range start.Attr {
		if a.Name.Local == local && (a.Name.Space == "r" || strings.HasSuffix(a.Name.Space, "/relationships")) {
			return a.Value
		}
	}
	return ""
}

// Main returns the name of the package's main part, or fallback if no relation names it.
func (p *Package) Main(ctx context.Context, fallback string) (string, error) {
	relations, err := p.Relations(ctx, "")
	if err != nil {
		return "", err
	}
	for _, relation := range relations {
		if relation.Type == "officeDocument" {
			return relation.Target, nil
		}
	}
	return fallback, nil
}

// OfType returns the target of a relation of the type, or "".
func OfType(relations map[string]Relation, kind string) string {
	target := ""
	for _, relation := range relations {
		if relation.Type == kind && (target == "" || relation.Target < target) {
			target = relation.Target
		}
	}
	return target
}

// Int parses an integer and returns fallback if it is malformed.
func Int(s string, fallback int) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil {
		return fallback
	}
	return n
}

// On parses a boolean attribute (22.9.2.7) and returns fallback if it is empty.
func On(s string, fallback bool) bool {
	switch s {
	case "":
		return fallback
	case "0", "false", "off":
		return false
	}
	return true
}
