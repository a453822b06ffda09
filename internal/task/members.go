package task

import (
	"bytes"
	"encoding/json"
)

// scan splits the object that a valid JSON text is, in one pass. Messages are small and every task has one, so their
// decoding is much of what a worker does around a short task.
type scan struct {
	text     []byte
	at       int
	depth    int
	doubtful bool // inspect has to tell whether all of it can be stored
}

// members returns the members of an object as encoding/json would (of a repeated name the last counts), and whether
// inspect has nothing to find in it. text must be valid UTF-8 and valid JSON that begins with a brace. The values are
// parts of text.
func members(text []byte) (all map[string]json.RawMessage, sound bool) {
	s := &scan{text: text, at: 1, depth: 1}
	all = make(map[string]json.RawMessage, 8)
	for s.skip(); text[s.at] != '}'; s.skip() {
		name := s.name()
		s.skip()
		begin := s.at
		s.value()
		all[name] = text[begin:s.at:s.at]
	}
	return all, !s.doubtful
}

// skip moves to the next byte that is neither white space nor between two values.
func (s *scan) skip() {
	for {
		switch s.text[s.at] {
		case ' ', '\t', '\r', '\n', ',', ':':
			s.at++
		default:
			return
		}
	}
}

// name reads a member's name.
func (s *scan) name() string {
	begin := s.at
	s.str()
	literal := s.text[begin:s.at]
	if plain, ok := unescaped(literal); ok {
		return plain
	}
	var name string
	if err := json.Unmarshal(literal, &name); err != nil {
		s.doubtful = true // cannot be: the text is valid
	}
	return name
}

// str passes a string. An escape of a UTF-16 code unit may stand for what can't be stored.
func (s *scan) str() {
	for s.at++; s.text[s.at] != '"'; s.at++ {
		if s.text[s.at] == '\\' {
			s.at++
			s.doubtful = s.doubtful || s.text[s.at] == 'u'
		}
	}
	s.at++
}

// value passes a value.
func (s *scan) value() {
	for outer := s.depth; ; {
		s.skip()
		switch s.text[s.at] {
		case '{', '[':
			s.at++
			s.depth++
			s.doubtful = s.doubtful || s.depth > maxDepth
		case '}', ']':
			s.at++
			s.depth--
		case '"':
			s.str()
		default:
			s.scalar()
		}
		if s.depth == outer {
			return
		}
	}
}

// plainNumber is the length up to which a number without an exponent is surely in the range of a double.
const plainNumber = 300

// scalar passes a number or a word.
func (s *scan) scalar() {
	begin := s.at
	for {
		switch c := s.text[s.at]; c {
		case ' ', '\t', '\r', '\n', ',', '}', ']':
			s.doubtful = s.doubtful || s.at-begin > plainNumber
			return
		case 'e', 'E':
			first := s.text[begin]
			s.doubtful = s.doubtful || first != 't' && first != 'f' // true and false have an e
		}
		s.at++
	}
}

// unescaped returns the text of a JSON string literal without escapes, as most are. The literal must be valid UTF-8.
func unescaped(literal []byte) (string, bool) {
	if len(literal) < 2 || literal[0] != '"' || bytes.IndexByte(literal, '\\') >= 0 {
		return "", false
	}
	return string(literal[1 : len(literal)-1]), true
}
