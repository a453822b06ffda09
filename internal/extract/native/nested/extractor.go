package nested

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// All reads the files within documents, also those with files within them.
type All struct {
	*extract.Router
	extractors map[extract.Format]extract.Extractor
}

// NewAll returns an All of the extractors. Until it is used, more may be added to the map.
func NewAll(extractors map[extract.Format]extract.Extractor) All {
	return All{extract.NewRouter(extractors), extractors}
}

// identity changes whenever one of the extractors does.
func (a All) identity() string {
	hash := fnv.New32a()
	for _, f := range slices.Sorted(maps.Keys(a.extractors)) {
		e := a.extractors[f]
		var name string
		if c, ok := e.(*container); ok {
			name = c.name // its Name would ask for this identity
		} else {
			name = e.Name()
		}
		_, _ = fmt.Fprintf(hash, "%s %s@%d\n", f, name, e.Version()) // a hash never fails
	}
	return fmt.Sprintf("%08x", hash.Sum32())
}

// ReadFunc reads a document and the files within it. What it returns is completed by Reader.Finish.
type ReadFunc func(ctx context.Context, src extract.Source, limits extract.Limits, r *Reader) (extract.Info, error)

// Container returns an extractor of documents that consist of other files. Its name covers all extractors: when one
// of them changes, the document is read again.
func Container(name string, version int, all All, read ReadFunc) extract.Extractor {
	return &container{name, version, all, read}
}

type container struct {
	name    string
	version int
	all     All
	read    ReadFunc
}

func (c *container) Name() string { return c.name + "+" + c.all.identity() }
func (c *container) Version() int { return c.version }

// Extract implements extract.Extractor.
func (c *container) Extract(
	ctx context.Context, src extract.Source, limits extract.Limits, emit extract.Emit,
) (info extract.Info, err error) {
	limits = limits.WithDefaults()
	r := New(ctx, c.all, src, limits, emit)
	defer func() { err = errors.Join(err, r.Close()) }()
	info, err = c.read(ctx, src, limits, r)
	if err != nil {
		return extract.Info{}, err
	}
	info.Format, info.Extractor = src.Format, c.name
	r.Finish(&info)
	return info, nil
}

// List reads the files within a document by Reader.Add.
type List func(ctx context.Context, src extract.Source, limits extract.Limits, r *Reader) error

// With returns inner followed by the files within the document. Its name is that of inner: when only an extractor of
// such files changes, documents are not read again.
func With(inner extract.Extractor, all All, list List) extract.Extractor {
	return &with{inner, all, list}
}

type with struct {
	extract.Extractor
	all  All
	list List
}

// Version also covers what is added.
func (w *with) Version() int { return w.Extractor.Version() + 1 }

// Extract implements extract.Extractor.
func (w *with) Extract(
	ctx context.Context, src extract.Source, limits extract.Limits, emit extract.Emit,
) (info extract.Info, err error) {
	limits = limits.WithDefaults()
	r := New(ctx, w.all, src, limits, emit)
	defer func() { err = errors.Join(err, r.Close()) }()
	info, err = w.Extractor.Extract(ctx, src, limits, r.own)
	if err != nil {
		return info, err
	}
	if err := r.Refused("the files within the document", w.list(ctx, src, limits, r)); err != nil {
		return extract.Info{}, err
	}
	r.Finish(&info)
	return info, nil
}
