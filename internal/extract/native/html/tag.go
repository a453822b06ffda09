package html

import (
	"io"
	"slices"
	"strings"
)

const (
	maxTag   = 256 << 10 // bytes of one tag
	maxValue = 64 << 10  // bytes of one attribute's value, of those
	chunk    = maxTag    // bytes read at once: a tag that is longer doesn't end in the chunk that it begins in
)

// rawText are the elements whose content the tokenizer returns as one text (WHATWG HTML, 13.2.5.1).
var rawText = map[string]bool{
	"iframe": true, "noembed": true, "noframes": true, "noscript": true, "plaintext": true, "script": true, "style": true,
	"textarea": true, "title": true, "xmp": true,
}

// shortener shortens long tags on their way to the tokenizer, which needs 20 times the memory of a tag of many
// attributes. It knows from the tokenizer where a token begins.
type shortener struct {
	r     io.Reader
	in    []byte
	out   []byte // what in became
	taken int    // bytes of out that were read
	begin int64  // of out, from the beginning
	err   error

	tokens int64 // where the next token begins: set by the tokenizer's owner
	raw    bool  // it is the content of an element of raw text: as tokens
	tag    *tag  // the open one; nil: the token is no tag
	cut    bool  // attributes that may have text were cut off
}

func (s *shortener) Read(p []byte) (int, error) {
	for s.taken == len(s.out) {
		if s.err != nil {
			return 0, s.err
		}
		s.next()
	}
	n := copy(p, s.out[s.taken:])
	s.taken += n
	return n, nil
}

// next reads a chunk.
func (s *shortener) next() {
	if s.in == nil {
		s.in = make([]byte, chunk)
	}
	var n int
	n, s.err = s.r.Read(s.in)
	in := s.in[:n]
	if s.tokens >= s.begin { // otherwise the token began in an earlier chunk
		s.tag = nil
		if open := s.out[min(s.tokens-s.begin, int64(len(s.out))):]; !s.raw && opens(open, in) {
			s.tag = &tag{}
			s.tag.shorten(open, nil)
		}
	}
	s.begin += int64(len(s.out))
	s.out, s.taken = s.out[:0], 0
	if s.tag != nil {
		var read int
		s.out, read = s.tag.shorten(in, s.out)
		s.cut = s.cut || s.tag.cut
		if in = in[read:]; s.tag.state == ended {
			s.tag = nil
		}
	}
	s.out = append(s.out, in...)
}

// opens reports whether a token that begins with open, and goes on with more, is a tag.
func opens(open, more []byte) bool {
	if len(open) == 0 {
		return false
	}
	head := slices.Concat(open[:min(len(open), 3)], more[:min(len(more), 3)])
	if len(head) > 2 && head[1] == '/' {
		head = head[1:]
	} else if head[0] != '<' {
		return false
	}
	return len(head) > 1 && (head[1]|0x20 >= 'a' && head[1]|0x20 <= 'z')
}

// tagState is a state of the tokenizer within a tag (WHATWG HTML, 13.2.5.8 and 13.2.5.32 to 13.2.5.40).
type tagState int

const (
	inName      tagState = iota // of the tag
	beforeKey                   // of an attribute
	inKey                       //
	afterKey                    //
	beforeValue                 // after the equals sign
	inQuotes                    // a value in quotes
	inValue                     // one without
	ended
)

// tag is the tag being read.
type tag struct {
	state tagState
	quote byte   // of the value
	open  bool   // the quote was kept
	key   []byte // of the attribute, its beginning
	slash bool   // the last byte was a slash that may close the element
	bytes int    // that were kept of the tag
	value int    // bytes of the value
	cut   bool   // of an attribute that may be read, something was dropped
}

// shorten appends to out what is kept of in up to the end of the tag, and returns how many bytes of in that was.
func (t *tag) shorten(in, out []byte) (kept []byte, read int) {
	for i, c := range in {
		from, whole := t.state, t.bytes < maxTag
		reads := t.step(c)
		if from != inQuotes && t.state == inQuotes {
			t.open = whole
		}
		switch {
		case reads && whole:
			t.bytes++
			out = append(out, c)
		case t.state == ended && t.slash:
			out = append(out, " />"...)
		case t.state == ended:
			out = append(out, '>')
		case !whole:
			t.cut = true
			if from == inQuotes && t.state != inQuotes && t.open {
				out = append(out, t.quote)
			}
		}
		if t.state == ended {
			return out, i + 1
		}
	}
	return out, len(in)
}

// step goes on by a byte and reports whether it is read: it is unless it is too far within a value.
func (t *tag) step(c byte) bool {
	space := c == ' ' || c >= '\t' && c <= '\r' && c != '\v'
	if c != '>' {
		t.slash = false
	}
	switch {
	case t.state == inQuotes && c == t.quote, t.state == inValue && space:
		t.state, t.value = beforeKey, 0
	case t.state == inQuotes, t.state == inValue && c != '>':
		t.value++
	case c == '>':
		t.state, t.value = ended, 0
	case t.state == beforeValue && !space:
		t.state, t.quote, t.value = inValue, c, 1
		if c == '"' || c == '\'' {
			t.state, t.value = inQuotes, 0
		}
	case t.state == beforeValue:
	case c == '/':
		t.state, t.slash = beforeKey, true
	case c == '=' && t.state != beforeKey && t.state != inName:
		t.state = beforeValue
	case space && t.state == inKey:
		t.state = afterKey
	case space && t.state == inName:
		t.state = beforeKey
	case !space && t.state != inName:
		t.name(c)
	}
	if t.value <= maxValue {
		return true
	}
	t.cut = t.cut || mayBeRead(string(t.key))
	return false
}

// name adds a letter to the name of an attribute.
func (t *tag) name(c byte) {
	if t.state != inKey {
		t.state, t.key = inKey, t.key[:0]
	}
	if len(t.key) < maxKey {
		t.key = append(t.key, c)
	}
}

// maxKey is longer than the names of all attributes that are read.
const maxKey = 32

// mayBeRead reports whether an attribute is read of some element. Long addresses are not.
func mayBeRead(name string) bool {
	name = strings.ToLower(name)
	return keptAttributes[name] || name == "alttext"
}
