package content

import (
	"sync"

	"codeberg.org/go-pdf/fpdf"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf/object"
)

// standardFont is one of the 14 fonts that readers have, so that files need not state their widths (9.6.2.2).
type standardFont struct {
	family, style   string // as fpdf names them, which has Adobe's metrics
	ascent, descent float64
	symbols         bool // its codes have meanings of their own
}

// standardFonts are the fonts by name, with the heights that poppler gives them.
var standardFonts = map[string]standardFont{
	"Courier":               {"courier", "", 0.629, -0.157, false},
	"Courier-Bold":          {"courier", "B", 0.629, -0.157, false},
	"Courier-Oblique":       {"courier", "I", 0.629, -0.157, false},
	"Courier-BoldOblique":   {"courier", "BI", 0.629, -0.157, false},
	"Helvetica":             {"helvetica", "", 0.718, -0.207, false},
	"Helvetica-Bold":        {"helvetica", "B", 0.718, -0.207, false},
	"Helvetica-Oblique":     {"helvetica", "I", 0.718, -0.207, false},
	"Helvetica-BoldOblique": {"helvetica", "BI", 0.718, -0.207, false},
	"Times-Roman":           {"times", "", 0.683, -0.217, false},
	"Times-Bold":            {"times", "B", 0.683, -0.217, false},
	"Times-Italic":          {"times", "I", 0.683, -0.217, false},
	"Times-BoldItalic":      {"times", "BI", 0.683, -0.217, false},
	"Symbol":                {"symbol", "", 1.01, -0.293, true},
	"ZapfDingbats":          {"zapfdingbats", "", 0.82, -0.143, true},
}

// readStandard reads the widths of a standard font with an encoding in which they are known.
func (r *Reader) readStandard(f *Font, d object.Dict) bool {
	s, ok := standardFonts[f.Name]
	if !ok {
		return false
	}
	if encoding := r.file.Resolve(d["Encoding"]); encoding != nil && (s.symbols || encoding != object.Name("WinAnsiEncoding")) {
		return false
	}
	f.ascent, f.descent = s.ascent, s.descent
	f.first, f.widths = 0, s.widths()
	return true
}

var standardWidths sync.Map // of []float64 by name of the family and style

// widths returns the widths of the characters of Windows-1252, or of a font of symbols, in ems.
func (s standardFont) widths() []float64 {
	if found, ok := standardWidths.Load(s.family + s.style); ok {
		return found.([]float64) //nolint:forcetypeassert // nothing else is stored
	}
	p := fpdf.New("P", "pt", "A4", "")
	p.SetFont(s.family, s.style, 1)
	widths := make([]float64, 256)
	for code := range widths {
		widths[code] = float64(p.GetStringSymbolWidth(string([]byte{byte(code)}))) / 1000
	}
	standardWidths.Store(s.family+s.style, widths)
	return widths
}
