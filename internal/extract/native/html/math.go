package html

import (
	"strings"

	"golang.org/x/net/html"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/formula"
)

// formula begins a formula. Its alternative text replaces it.
func (s *simplifier) formula(t html.Token) error {
	for _, a := range t.Attr {
		if a.Key == "alttext" && a.Val != "" {
			return s.text([]byte(unwrapped(a.Val)))
		}
	}
	s.math = &formula.Builder{}
	return s.math.Start(t.Data, nil)
}

// unwrapped takes off what MediaWiki puts around every formula: it says how it looks.
func unwrapped(tex string) string {
	if inner, ok := strings.CutPrefix(tex, `{\displaystyle `); ok && strings.HasSuffix(inner, "}") {
		return strings.TrimSuffix(inner, "}")
	}
	return tex
}

// inFormula adds an element to the open formula.
func (s *simplifier) inFormula(t html.Token) error {
	attrs := map[string]string{}
	for _, a := range t.Attr {
		if a.Key == "open" || a.Key == "close" || a.Key == "separators" || a.Key == "linethickness" {
			attrs[a.Key] = a.Val
		}
	}
	err := s.math.Start(t.Data, attrs)
	if t.Type == html.SelfClosingTagToken {
		s.math.End()
	}
	return err
}

// endFormula writes the open formula, if there is one, apart from the words next to it.
func (s *simplifier) endFormula() error {
	if s.math == nil {
		return nil
	}
	text := s.math.String()
	s.math = nil
	if text == "" {
		return nil
	}
	err := s.text([]byte(formula.After(string(s.last), text)))
	s.after = true
	return err
}

// ofMediaWiki reports whether an element has a formula for screen readers, which the style hides: others see a picture
// of it, hidden from them.
func ofMediaWiki(t html.Token) bool {
	for _, a := range t.Attr {
		if a.Key == "class" {
			return strings.HasPrefix(a.Val, "mwe-math-mathml")
		}
	}
	return false
}
