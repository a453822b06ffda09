package docling

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Result is the server's result for one file.
type Result struct {
	Status   string // Success, PartialSuccess, Failed or Skipped
	Errors   []ErrorItem
	Failure  *Failure // of the whole task; the other fields are then empty
	Document *Document
	Markdown string // when requested, with to_formats=md
	Kept     bool   // it came from the shelf, without a request
}

// What a document may have: each item takes some hundred bytes of memory, and each part of one, such as a cell or a place,
// up to a hundred, however short its JSON is. A result of MaxResult bytes as docling-serve writes it has less.
const (
	maxItems = 2_000_000 // and pages
	maxParts = 5_000_000
)

// ReadResult decodes a result (ConvertDocumentResponse or TaskFailureResult) item by item. Unneeded parts are
// never in memory.
func ReadResult(r io.Reader) (*Result, error) {
	return newDecoder(r).result()
}

func (d *decoder) result() (*Result, error) {
	result := &Result{}
	err := d.object(func(key string) error {
		switch key {
		case "status":
			return d.Decode(&result.Status)
		case "errors":
			return d.value(&result.Errors)
		case "failure":
			return d.value(&result.Failure)
		case "document":
			return d.object(func(key string) (err error) {
				switch key {
				case "json_content":
					result.Document, err = d.document()
					return err
				case "md_content":
					var text *string // null: not requested
					if err = d.Decode(&text); text != nil {
						result.Markdown = *text
					}
					return err
				}
				return d.skip()
			})
		}
		return d.skip()
	})
	return result, unreadable(err)
}

// ReadDocument decodes a DoclingDocument as exported by Docling.
func ReadDocument(r io.Reader) (*Document, error) {
	d := newDecoder(r)
	doc, err := d.document()
	if err == nil && doc == nil {
		err = errors.New("it is null")
	}
	return doc, unreadable(err)
}

func unreadable(err error) error {
	if _, ok := errors.AsType[*taskerr.Error](err); ok || err == nil {
		return err
	}
	return down(taskerr.DependencyUnavailable,
		"is the version of docling-serve one that the worker knows? see docs/docling.md",
		"docling-serve's result can't be read: %w", err)
}

// decoder walks JSON of any size.
type decoder struct {
	*json.Decoder
	items, parts       int
	maxItems, maxParts int
}

func newDecoder(r io.Reader) *decoder {
	return &decoder{Decoder: json.NewDecoder(r), maxItems: maxItems, maxParts: maxParts}
}

// count counts an item, or a page.
func (d *decoder) count() error {
	if d.items++; d.items > d.maxItems {
		return taskerr.Errorf(taskerr.QuotaExceeded,
			"docling found more than %d pieces in the document: split it into smaller files", d.maxItems)
	}
	return nil
}

// value decodes a value of bounded size: it counts its parts before they take memory.
func (d *decoder) value(v any) error {
	var text json.RawMessage
	if err := d.Decode(&text); err != nil {
		return err
	}
	return d.bounded(text, v)
}

// bounded decodes valid JSON.
func (d *decoder) bounded(text []byte, v any) error {
	if d.parts += parts(text); d.parts > d.maxParts {
		return taskerr.Errorf(taskerr.QuotaExceeded,
			"docling found more than %d cells, places and references in the document: split it into smaller files", d.maxParts)
	}
	return json.Unmarshal(text, v)
}

// parts returns how many elements of arrays follow another one, in valid JSON.
func parts(text []byte) (n int) {
	var open []byte
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"':
			for i++; text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '[', '{':
			open = append(open, c)
		case ']', '}':
			open = open[:len(open)-1]
		case ',':
			if open[len(open)-1] == '[' {
				n++
			}
		}
	}
	return n
}

// document returns nil for null.
func (d *decoder) document() (*Document, error) {
	doc := &Document{Items: map[string][]Item{}, Pages: map[int]Page{}}
	known := false
	err := d.object(func(key string) error {
		known = true
		switch key {
		case "name":
			return d.Decode(&doc.Name)
		case "body":
			return d.value(&doc.Body)
		case "pages":
			return d.object(func(number string) error {
				var p Page
				if err := errors.Join(d.count(), d.Decode(&p)); err != nil {
					return err
				}
				if n, err := strconv.Atoi(number); err == nil {
					doc.Pages[n] = p
				}
				return nil
			})
		case "schema_name", "version", "origin", "furniture":
			return d.skip()
		}
		return d.array(func() error {
			if err := d.count(); err != nil {
				return err
			}
			item, err := d.item()
			if err != nil {
				return fmt.Errorf("%s %d: %w", key, len(doc.Items[key]), err)
			}
			if strings.TrimSpace(item.Text) != "" {
				item.Orig = "" // mostly the same as Text
			}
			doc.Items[key] = append(doc.Items[key], item)
			return nil
		})
	})
	if !known {
		return nil, err
	}
	return doc, err
}

// object calls value for each key; value must consume the key's value. null has no keys.
func (d *decoder) object(value func(key string) error) error {
	t, err := d.Token()
	if err != nil || t == nil {
		return short(err)
	}
	if t != json.Delim('{') {
		return fmt.Errorf("%v where an object should be", t)
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return short(err)
		}
		name, _ := key.(string) // the decoder returns only string keys
		if err := value(name); err != nil {
			return short(err)
		}
	}
	_, err = d.Token()
	return short(err)
}

// array calls element for each element of an array; element must consume it. Any other value is skipped.
func (d *decoder) array(element func() error) error {
	t, err := d.Token()
	switch {
	case err != nil:
		return short(err)
	case t == json.Delim('{'):
		return d.leave(1)
	case t != json.Delim('['):
		return nil
	}
	for d.More() {
		if err := element(); err != nil {
			return short(err)
		}
	}
	_, err = d.Token()
	return short(err)
}

// skip consumes a value.
func (d *decoder) skip() error { return d.leave(0) }

// leave consumes the rest of depth open values, or one value for 0.
func (d *decoder) leave(depth int) error {
	for {
		t, err := d.Token()
		if err != nil {
			return short(err)
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// short turns io.EOF within a value into an error.
func short(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
