package rtf

import (
	"strings"
	"unicode/utf16"
)

// characters maps control words to characters.
var characters = map[string]string{
	"tab": " ", "line": "\n", "softline": "\n", "emdash": "—", "endash": "–", "emspace": " ", "enspace": " ",
	"qmspace": " ",
	"lquote":  "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”", "bullet": "•",
}

// symbol handles a control symbol: a backslash and a character that is not a letter.
func (r *reader) symbol(b byte) error {
	if b == '*' {
		r.star = !r.begun
		return nil
	}
	if r.skip > 0 {
		r.skip--
		return nil
	}
	switch b {
	case '\\', '{', '}':
		return r.put(string(rune(b)))
	case '~':
		return r.put(" ")
	case '_':
		return r.put("-")
	case '\r', '\n':
		if r.to == body {
			return r.endParagraph()
		}
	case '\t':
		r.story.look.Tab(r.story.text.String())
		return r.put(" ")
	}
	return nil // an optional hyphen, index marks, junk
}

// symbolic reports whether the current font is a symbol font.
func (r *reader) symbolic() bool {
	return r.fonts[r.font].page == symbolPage && (r.to == body || r.to == label)
}

// glyph adds a character of a symbol font. In a label any is a bullet, also one that has no name or whose font is not
// told: LibreOffice sets the font of labels for complex scripts only.
func (r *reader) glyph(code int) error {
	text := symbolChar(r.fonts[r.font].name, code)
	if text == "" && r.to == label {
		text = "•"
	}
	return r.put(text)
}

// coded adds a byte in the code page of its font.
func (r *reader) coded(b byte) error {
	if r.skip > 0 {
		r.skip--
		return nil
	}
	if r.to == skipped || r.to == shape {
		return nil
	}
	page := r.codePage()
	if page == symbolPage {
		return r.glyph(int(b))
	}
	if page != r.raw.page || len(r.raw.bytes) >= maxRaw && !r.raw.lead {
		if err := r.flush(); err != nil {
			return err
		}
		r.raw.page = page
	}
	r.raw.add(b)
	return nil
}

// flush adds the text of the buffered bytes.
func (r *reader) flush() error {
	if len(r.raw.bytes) == 0 {
		return nil
	}
	return r.put(r.raw.take())
}

// unicode handles \u: a UTF-16 code unit, written as a signed number.
func (r *reader) unicode(n int) error {
	r.skip = r.uc
	c := rune(n)
	if n < 0 {
		c = rune(n + 1<<16)
	}
	high := r.surrogate
	r.surrogate = 0
	switch {
	case c < 0 || c > 0x10FFFF:
		return nil
	case c >= 0xD800 && c < 0xDC00:
		r.surrogate = c
		return nil
	case utf16.IsSurrogate(c):
		if c = utf16.DecodeRune(high, c); c == '\uFFFD' {
			return nil
		}
	case c >= 0xE000 && c <= 0xF8FF:
		return r.glyph(int(c))
	}
	return r.put(string(c))
}

// see notes how a text of the main text is set.
func (r *reader) see(text string) {
	if !r.story.main || !r.out.Looks() || strings.TrimSpace(text) == "" {
		return
	}
	r.story.look.Text()
	if !r.mark && r.size > 0 {
		r.story.look.Font(float64(r.size)/2, r.bold)
	}
}

// put adds text to the target of the group.
func (r *reader) put(text string) error {
	switch r.to {
	case body:
		if r.hidden || r.gone {
			return nil
		}
		r.see(text)
		if r.raised {
			r.story.text.Raise(text)
		} else {
			r.story.text.WriteString(text)
		}
		return r.out.Spend(len(text))
	case label, information, instruction:
		r.entry.add(text)
	case fontTable, styleTable:
		if strings.Contains(text, ";") {
			r.record()
			return nil
		}
		r.entry.add(text)
	}
	return nil
}
