package ooxml

import (
	"encoding/xml"
	"html"
	"io"
	"maps"
	"strings"
)

const (
	maxName   = 256     // bytes of the name of a character; longer ones are refused
	maxNames  = 4096    // names of a document that are remembered
	maxGrowth = 1 << 20 // bytes that a document may grow by the texts that it defines itself
)

// names finds the named characters in a document before its parser reads them, and tells it those that it needs. The
// names are those of HTML, which has nearly all that ISO's sets, and so most DTDs, have.
type names struct {
	r       io.Reader
	known   map[string]string // the parser's
	own     map[string]bool   // those that the document defines
	seen    map[string]bool
	refused map[string]bool
	err     error // why a name is refused
	name    []byte
	within  bool // name is being read
	decoded bool // the parser reads the text that others made of this one
	growth  int
}

func newNames(r io.Reader) *names {
	return &names{
		r: r, known: maps.Clone(xml.HTMLEntity), own: map[string]bool{}, seen: map[string]bool{}, refused: map[string]bool{},
	}
}

// in returns the names of a text that r decodes from the one so far, which its declaration says is in another character
// set: names are compared in the text that the parser reads.
func (s *names) in(r io.Reader) *names {
	next := *s
	next.r, next.name, next.within = r, nil, false
	s.decoded = true
	return &next
}

// Read implements io.Reader.
func (s *names) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if s.decoded {
		return n, err
	}
	for _, c := range p[:n] {
		switch {
		case c == '&':
			s.within, s.name = true, s.name[:0]
		case !s.within:
		case c == ';' || len(s.name) == maxName:
			s.within = false
			if refusal := s.found(string(s.name)); refusal != nil {
				return 0, refusal
			}
		case c <= ' ' || c == '<' || c == '#':
			s.within = false
		default:
			s.name = append(s.name, c)
		}
	}
	return n, err
}

// found notes the use of a name.
func (s *names) found(name string) error {
	if s.refused[name] {
		return s.err
	}
	if s.own[name] {
		if s.growth += len(s.known[name]); s.growth > maxGrowth {
			return s.err
		}
		return nil
	}
	if _, ok := s.known[name]; ok || len(s.seen) == maxNames {
		return nil
	}
	s.seen[name] = true
	if text := character(name); text != "" {
		s.known[name] = text
	}
	return nil
}

// character returns the text of a named character, "" for an unknown one.
func character(name string) string {
	if letter, ok := greek(name); ok {
		return letter
	}
	if source := "&" + name + ";"; html.UnescapeString(source) != source {
		return html.UnescapeString(source)
	}
	return ""
}

// greek reads the names of Greek letters in ISO's set grk1, which HTML doesn't have: agr, OHgr.
func greek(name string) (string, bool) {
	const letters = "a α b β g γ d δ e ε z ζ ee η th θ i ι k κ l λ m μ n ν x ξ o ο p π r ρ s σ sf ς t τ u υ ph φ kh χ ps ψ oh ω"
	short, ok := strings.CutSuffix(name, "gr")
	if !ok {
		return "", false
	}
	all := strings.Fields(letters)
	for i := 0; i < len(all); i += 2 {
		switch short {
		case all[i]:
			return all[i+1], true
		case strings.ToUpper(all[i]):
			return strings.ToUpper(all[i+1]), true
		}
	}
	return "", false
}

// Define gives a name that the document declares the text that it stands for. The document ends with refusal if it
// uses it so often that it grows without measure, or if it uses a name that is too long to be counted. Only the decoder
// of ReadStream has names.
func (d *Decoder) Define(name, text string, refusal error) error {
	if len(name) > maxName {
		return d.Refuse(name, refusal)
	}
	if d.names == nil || len(d.names.own) == maxNames {
		return nil
	}
	d.names.own[name], d.names.known[name], d.names.err = true, text, refusal
	return nil
}

// Refuse ends the document with an error where it uses a name. It returns the error if it was used already.
func (d *Decoder) Refuse(name string, refusal error) error {
	if d.names == nil {
		return nil
	}
	name = name[:min(len(name), maxName)]
	if d.names.seen[name] || len(d.names.refused) == maxNames {
		return refusal
	}
	d.names.refused[name], d.names.err = true, refusal
	return nil
}
