package docling

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// TestPartsAreBounded: a document whose JSON is short, and takes many times its size as it is decoded, is refused.
func TestPartsAreBounded(t *testing.T) {
	t.Parallel()
	const items, many = 2_000, 5_000
	read := func(text string) (*Result, error) {
		d := newDecoder(strings.NewReader(text))
		d.maxItems, d.maxParts = items, many
		r, err := d.result()
		return r, unreadable(err)
	}
	for name, c := range map[string]struct {
		begin, element, end string
		n                   int
	}{
		"cells": {`{"document":{"json_content":{"tables":[{"data":{"table_cells":[{}`, ",{}", `]}}]}}}`, items},
		"parts of items": {
			`{"document":{"json_content":{"texts":[{}`, `,{"unknown":[` + strings.Repeat("0,", 999) + `0]}`, `]}}}`, many/999 + 1,
		},
		"children": {`{"document":{"json_content":{"body":{"children":[{}`, ",{}", `]}}}}`, many + 1},
		"errors":   {`{"errors":[{}`, ",{}", `]}`, many + 1},
		"pages":    {`{"document":{"json_content":{"pages":{"1":{}`, `,"1":{}`, `}}}}`, items},
	} {
		_, err := read(c.begin + strings.Repeat(c.element, c.n) + c.end)
		if e, ok := errors.AsType[*taskerr.Error](err); !ok || e.Class != taskerr.QuotaExceeded {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := read(c.begin + strings.Repeat(c.element, c.n/3) + c.end); err != nil {
			t.Errorf("%s, a third: %v", name, err)
		}
	}
	text := `a \"text\" with commas, [brackets], and a \\`
	full := `{"document":{"json_content":{"texts":[{"text":"` + text + `","prov":[{"bbox":{"l":1,"t":2},"charspan":[0,1]},{}]}]}}}`
	r, err := read(full)
	if err != nil || len(r.Document.Items["texts"][0].Places) != 2 {
		t.Errorf("%+v, %v", r, err)
	}
}
