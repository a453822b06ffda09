package xml

import (
	"encoding/xml"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/formula"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
)

// isMath reports whether an element is a formula in MathML, whose prefix may lack a namespace. In an unknown kind of
// documents one without either may be the marks of a pupil.
func (w *walker) isMath(e xml.StartElement) bool {
	return e.Name.Local == "math" && (e.Name.Space == "" && w.dialect != nil || e.Name.Space == "mml" || strings.HasSuffix(e.Name.Space, "/MathML"))
}

// math reads a formula in MathML, unless it was written in TeX already.
func (w *walker) math(d *ooxml.Decoder, start xml.StartElement) error {
	if w.skipping > 0 || w.formula == tex {
		return d.Skip()
	}
	text, err := formula.Read(d, start)
	if err != nil || text == "" {
		return err
	}
	w.nextField()
	w.formula = formulas
	return w.put(text)
}

// endTeX writes the formula that was read aside, unless it was written in MathML already.
func (w *walker) endTeX() error {
	source := w.takeAside()
	if w.formula == formulas {
		return nil
	}
	w.formula = tex
	return w.put(bare(source))
}

// put writes a formula apart from the words next to it.
func (w *walker) put(text string) error {
	if err := w.out.Spend(len(text)); err != nil {
		return err
	}
	w.buffer.WriteString(formula.After(w.buffer.String(), text))
	w.ended, w.after = false, true
	return nil
}

// bare returns the formula in a source in TeX: without the document around it, which some publishers give each one, and
// without the signs that begin and end it.
func bare(source string) string {
	if _, body, ok := strings.Cut(source, `\begin{document}`); ok {
		source, _, _ = strings.Cut(body, `\end{document}`)
	}
	source = joined(source)
	for _, sign := range [][2]string{{"$$", "$$"}, {"$", "$"}, {`\[`, `\]`}, {`\(`, `\)`}} {
		inner, begins := strings.CutPrefix(source, sign[0])
		inner, ends := strings.CutSuffix(inner, sign[1])
		if begins && ends {
			return strings.TrimSpace(inner)
		}
	}
	return source
}

// takeAside returns the text that was read aside.
func (w *walker) takeAside() string {
	text := w.aside.String()
	w.aside.Reset()
	w.isAside = false
	return text
}

// endName writes the surname that was held back, after the given names.
func (w *walker) endName() {
	if w.surname != "" {
		w.buffer.WriteString(" " + w.surname)
	}
	w.surname = ""
}
