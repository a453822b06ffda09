package xlsx

import (
	"encoding/xml"
	"math"
	"strconv"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
	"github.com/seed-7227ef26/async-worker/internal/pattern"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const (
	maxText      = 1 << 20 // bytes of one text; Excel allows 32,767 characters
	entryBytes   = 8       // memory of a string in addition to its text
	maxTextTable = math.MaxUint32
)

// stringTable holds the shared strings (18.4) in one allocation.
type stringTable struct {
	text  []byte
	ends  []uint32
	limit int // bytes
}

func (t *stringTable) read(d *ooxml.Decoder) error {
	limit := min(t.limit, maxTextTable)
	return d.Each(func(start xml.StartElement) error {
		if start.Name.Local != "si" {
			return nil
		}
		text, err := richText(d)
		if err != nil {
			return err
		}
		t.text = append(t.text, text...)
		t.ends = append(t.ends, uint32(len(t.text)))
		if len(t.text)+len(t.ends)*entryBytes > limit {
			return taskerr.Errorf(taskerr.QuotaExceeded,
				"the workbook has more than %d MB of text: split it into smaller files", limit>>20)
		}
		return nil
	})
}

// at returns the string of an index as given by a cell, or "".
func (t *stringTable) at(index string) string {
	i, err := strconv.Atoi(strings.TrimSpace(index))
	if err != nil || i < 0 || i >= len(t.ends) {
		return ""
	}
	begin := uint32(0)
	if i > 0 {
		begin = t.ends[i-1]
	}
	return string(t.text[begin:t.ends[i]])
}

// richText reads an si or is: the text of its runs, without phonetic guides.
func richText(d *ooxml.Decoder) (string, error) {
	var b strings.Builder
	var walk func() error
	walk = func() error {
		return d.Children(func(start xml.StartElement) error {
			switch start.Name.Local {
			case "t":
				text, err := d.Text(maxText)
				if b.Len()+len(text) > maxText {
					text = text[:maxText-b.Len()]
					d.Cut()
				}
				b.WriteString(text)
				return err
			case "r":
				return walk()
			}
			return d.Skip()
		}, nil)
	}
	err := walk()
	return unescape(b.String()), err
}

var escaped = pattern.New(`_x[0-9A-Fa-f]{4}_`)

// unescape decodes characters that XML can't represent, for example _x000D_ (ST_Xstring, 22.9.2.19).
func unescape(text string) string {
	if !strings.Contains(text, "_x") {
		return text
	}
	return escaped.ReplaceAllStringFunc(text, func(code string) string {
		n, err := strconv.ParseUint(code[2:6], 16, 16)
		if err != nil {
			return code
		}
		return string(rune(n))
	})
}
