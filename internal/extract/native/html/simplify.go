package html

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/formula"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const (
	maxToken = 32 << 20  // bytes of one text
	maxNodes = 1_000_000 // in the tree, about 130 bytes each
	maxHref  = 2 << 10   // bytes of a link's address

	maxOpenTag = 256 // bytes of a tag without its end that can hardly be text
)

// keptAttributes are the attributes that are read.
var keptAttributes = map[string]bool{
	"alt": true, "aria-hidden": true, "colspan": true, "content": true, "hidden": true, "lang": true, "name": true,
	"open": true, "property": true,
	"role": true, "rowspan": true, "start": true, "style": true, "type": true, "value": true,
}

// dropped elements lose their tags: nothing is read from these, and the parser reopens them in each block that
// they overlap, so that a small page could make a tree of any size.
var dropped = map[string]bool{
	"b": true, "big": true, "code": true, "em": true, "font": true, "i": true, "nobr": true, "s": true,
	"small": true, "strike": true, "strong": true, "tt": true, "u": true,
}

// removed elements are dropped with everything in them.
var removed = map[string]bool{
	"script": true, "style": true, "iframe": true, "noembed": true, "noframes": true, "textarea": true,
	"select": true, "svg": true, "math": true,
}

// breakout tags end an unclosed svg, math or select element (WHATWG HTML, 13.2.6.5).
var breakout = map[string]bool{
	"body": true, "div": true, "h1": true, "h2": true, "h3": true, "h4": true, "h5": true, "h6": true,
	"li": true, "ol": true, "p": true, "pre": true, "table": true, "ul": true,
}

// simplifier reads a page without the parts that hold no text.
type simplifier struct {
	ctx   context.Context
	z     *html.Tokenizer
	tags  *shortener
	out   []byte // simplified output
	taken int    // bytes of out that were read
	nodes int
	bytes int // remaining budget for text
	limit int // of characters, for the error
	skip  string
	xhtml bool             // elements may be self-closing
	math  *formula.Builder // the open formula; nil: none, or one with alternative text
	last  rune             // of the text so far
	after bool             // a formula was the last text
	open  bool             // the page ended within a tag, a comment or a script
}

// simplify returns r without scripts, styles, comments, drawings and unused attributes. Its errors are
// *taskerr.Error of quota_exceeded, or the context's.
func simplify(ctx context.Context, r io.Reader, bytes int, limits extract.Limits) *simplifier {
	tags := &shortener{r: filler{ctx, r}}
	z := html.NewTokenizer(tags)
	z.SetMaxBuf(maxToken)
	return &simplifier{ctx: ctx, z: z, tags: tags, bytes: bytes, limit: limits.Characters}
}

// filler fills large reads, because the tokenizer moves its partial token on every read. It checks the context,
// because a single token may span the whole page.
type filler struct {
	ctx context.Context
	r   io.Reader
}

func (f filler) Read(p []byte) (int, error) {
	if f.ctx.Err() != nil {
		return 0, context.Cause(f.ctx)
	}
	n, err := io.ReadAtLeast(f.r, p, min(len(p), 256<<10))
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}

// warnings are those of the page that was read.
func (s *simplifier) warnings() (all []string) {
	if s.tags.cut {
		all = append(all, fmt.Sprintf("attributes of more than %d KB, such as descriptions of pictures, were read in part",
			maxValue>>10))
	}
	if s.open {
		all = append(all, "the page ends within a tag, a comment or a script: the text after its beginning was not read")
	}
	return all
}

func (s *simplifier) Read(p []byte) (int, error) {
	if s.ctx.Err() != nil {
		return 0, context.Cause(s.ctx)
	}
	for s.taken == len(s.out) {
		s.out, s.taken = s.out[:0], 0
		if err := s.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, s.out[s.taken:])
	s.taken += n
	return n, nil
}

func (s *simplifier) next() error {
	if err := s.ctx.Err(); err != nil {
		return context.Cause(s.ctx)
	}
	kind := s.z.Next()
	s.tags.tokens += int64(len(s.z.Raw()))
	s.tags.raw = false
	switch kind {
	case html.ErrorToken:
		s.open = s.open || len(s.z.Raw()) > maxOpenTag || s.skip != "" && raw(s.skip)
		if errors.Is(s.z.Err(), html.ErrBufferExceeded) {
			return taskerr.Errorf(taskerr.QuotaExceeded,
				"the page has a text, script or comment of more than %d MB: it is not read", maxToken>>20)
		}
		if err := s.endFormula(); err != nil {
			return err
		}
		if len(s.out) > 0 { // a formula without its end
			return nil
		}
		return s.z.Err()
	case html.CommentToken:
		comment := string(s.z.Raw()[:min(len(s.z.Raw()), 4)]) == "<!--"
		s.open = comment && len(s.z.Raw()) > maxOpenTag && !bytes.HasSuffix(s.z.Raw(), []byte("-->")) &&
			!bytes.HasSuffix(s.z.Raw(), []byte("--!>"))
	case html.TextToken:
		if s.math != nil {
			return s.math.Text(string(s.z.Text()))
		}
		if s.skip == "" {
			return s.text(s.z.Text())
		}
	case html.StartTagToken, html.SelfClosingTagToken:
		t := s.z.Token()
		s.tags.raw = rawText[t.Data]
		if s.xhtml && t.Type == html.SelfClosingTagToken && !isVoid(t.DataAtom) {
			return s.empty(t)
		}
		return s.start(t)
	case html.EndTagToken:
		name, _ := s.z.TagName()
		return s.end(string(name))
	}
	return nil
}

func (s *simplifier) text(text []byte) error {
	if s.bytes -= len(text); s.bytes < 0 {
		return extract.TooManyCharacters(s.limit)
	}
	written := string(text)
	if s.after {
		written = formula.Before(written)
	}
	if r, size := utf8.DecodeLastRuneInString(written); size > 0 {
		s.last, s.after = r, false
	}
	s.out = append(s.out, html.EscapeString(written)...)
	return s.count()
}

func (s *simplifier) count() error {
	if s.nodes++; s.nodes > maxNodes {
		return taskerr.Errorf(taskerr.QuotaExceeded, "the page has more than %d elements: split it into smaller files",
			maxNodes)
	}
	return nil
}

func (s *simplifier) start(t html.Token) error {
	if s.skip != "" && breakout[t.Data] && !raw(s.skip) {
		s.skip = ""
		if err := s.endFormula(); err != nil {
			return err
		}
	}
	if s.math != nil {
		return s.inFormula(t)
	}
	if s.skip != "" {
		return nil
	}
	switch {
	case dropped[t.Data]:
		return nil
	case removed[t.Data]:
		if t.Type == html.SelfClosingTagToken && !raw(t.Data) {
			return nil
		}
		s.skip = t.Data
		if t.Data == "math" {
			return s.formula(t)
		}
		return nil
	case t.Data == "xmp", t.Data == "plaintext":
		t.Data = "pre"
	}
	kept, unhidden := t.Attr[:0], ofMediaWiki(t)
	for _, a := range t.Attr {
		if unhidden && a.Key == "style" {
			continue
		}
		if keptAttributes[a.Key] || a.Key == "href" && (t.Data == "a" || t.Data == "base") && len(a.Val) <= maxHref {
			kept = append(kept, a)
		}
	}
	t.Attr = kept
	s.out = append(s.out, t.String()...)
	return s.count()
}

// raw reports whether the tokenizer returns everything up to the end tag as one text.
func raw(name string) bool { return name != "svg" && name != "math" && name != "select" }

func (s *simplifier) end(name string) error {
	switch {
	case s.skip != "":
		if name == s.skip || !raw(s.skip) && (name == "body" || name == "table") {
			s.skip = ""
			return s.endFormula()
		}
		if s.math != nil && s.math.Depth() > 1 {
			s.math.End()
		}
		return nil
	case dropped[name]:
		return nil
	case name == "xmp", name == "plaintext":
		name = "pre"
	}
	if strings.ContainsAny(name, " \t\r\n<>&") {
		return nil
	}
	s.out = append(s.out, "</"+name+">"...)
	return nil
}
