package chunk

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// assemble makes a chunk of items and emits it. Up to here tokens were summed over the items; here the whole
// chunk is counted, and halved if it still exceeds Max.
func (c *Chunker) assemble(items []item) error {
	if len(items) == 0 {
		return nil
	}
	content := contentOf(items)
	if content == "" {
		return nil
	}
	embedded := items[0].context().prefix + content
	tokens := c.config.Counter.Count(embedded)
	if tokens > c.config.Max {
		if left, right, ok := halve(items); ok {
			if err := c.assemble(left); err != nil {
				return err
			}
			return c.assemble(right)
		}
	}
	kind := majority(items)
	chunk := Chunk{
		Position:    c.position,
		Content:     content,
		Embedded:    embedded,
		HeadingPath: commonPath(items),
		Pages:       pages(items),
		Boxes:       boxes(items),
		Kind:        kind,
		Headings:    headings(items),
		Tokens:      tokens,
		Key:         c.config.key(embedded, kind),
	}
	c.position++
	return c.emit(chunk)
}

func contentOf(items []item) string {
	var b strings.Builder
	for k, i := range items {
		if k == 0 {
			b.WriteString(i.lead + cmp.Or(i.first, i.text))
		} else {
			b.WriteString(i.join + i.text)
		}
	}
	content := strings.TrimRightFunc(b.String(), unicode.IsSpace)
	if items[0].kind == Code { // keep its indentation
		return strings.TrimLeft(content, "\n")
	}
	return strings.TrimLeftFunc(content, unicode.IsSpace)
}

// halve splits a run of items, or the text of a single one; ok is false for a single rune.
func halve(items []item) (left, right []item, ok bool) {
	if n := len(items) / 2; n > 0 {
		return items[:n], items[n:], true
	}
	one := items[0]
	one.text, one.first = cmp.Or(one.first, one.text), ""
	middle := len(one.text) / 2
	for middle > 0 && !utf8.RuneStart(one.text[middle]) {
		middle--
	}
	if blank := strings.LastIndexByte(one.text[:middle], ' '); blank > middle/2 {
		middle = blank
	}
	if middle == 0 {
		_, middle = utf8.DecodeRuneInString(one.text)
	}
	if middle == len(one.text) {
		if one.lead == "" {
			return nil, nil, false
		}
		one.lead = "" // only its header is too long
		return []item{one}, nil, true
	}
	a, b := one, one
	a.text, b.text, b.opens = one.text[:middle], one.text[middle:], false
	return []item{a}, []item{b}, true
}

// key identifies the embedded text and the model: equal keys have equal vectors. White space has no meaning for
// a model except in code. Where a text continues across pages, an edit changes the white space far behind it,
// because a paragraph that ends with its page can't be distinguished from one that continues. Each part is
// preceded by its length, so that no two different lists of parts are the same bytes.
func (c Config) key(embedded, kind string) string {
	if kind != Code {
		embedded = strings.Join(strings.Fields(embedded), " ")
	}
	h := sha256.New()
	part := func(s string) {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(s))))
		h.Write([]byte(s))
	}
	number := func(n int) { h.Write(binary.BigEndian.AppendUint64(nil, uint64(n))) }
	part(embedded)
	part(c.Model)
	number(c.Dimensions)
	number(keyVersion)
	return hex.EncodeToString(h.Sum(nil))
}

// commonPath returns the headings above all text of the items, or, of only headings, those above all of them.
func commonPath(items []item) []string {
	var common []string
	found := false
	for _, i := range items {
		if i.kind == heading {
			continue
		}
		if !found {
			common, found = i.under.path, true
		}
		n := 0
		for n < len(common) && n < len(i.under.path) && common[n] == i.under.path[n] {
			n++
		}
		common = common[:n]
	}
	if !found {
		common = items[0].under.path
	}
	return append([]string{}, common...)
}

// headings counts the heading blocks that begin in the items.
func headings(items []item) (n int) {
	for _, i := range items {
		if i.opens {
			n++
		}
	}
	return n
}

func pages(items []item) []int {
	found := []int{}
	for _, i := range items {
		if i.page > 0 {
			found = append(found, i.page)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// boxes returns for each page the box around all items on it with a known position.
func boxes(items []item) []Place {
	around := make(map[int]extract.Box)
	for _, i := range items {
		if i.box == nil || i.page < 1 {
			continue
		}
		box, ok := around[i.page]
		if !ok {
			box = *i.box
		}
		around[i.page] = extract.Box{
			Left: min(box.Left, i.box.Left), Top: min(box.Top, i.box.Top),
			Right: max(box.Right, i.box.Right), Bottom: max(box.Bottom, i.box.Bottom),
		}
	}
	var places []Place
	for _, page := range slices.Sorted(maps.Keys(around)) {
		places = append(places, Place{Page: page, Box: around[page]})
	}
	return places
}

// majority returns the kind of most tokens.
func majority(items []item) string {
	tokens := make(map[string]int)
	for _, i := range items {
		tokens[i.kind] += i.tokens
	}
	most := Text
	for _, kind := range [...]string{List, Table, Code} {
		if tokens[kind] > tokens[most] {
			most = kind
		}
	}
	return most
}
