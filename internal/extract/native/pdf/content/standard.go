package content

import (
	"slices"
	"strings"
	"sync"

	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/text/encoding/charmap"

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
	encoding := r.file.Resolve(d["Encoding"])
	if encoding != nil && s.symbols {
		return false
	}
	widths := r.widthsOf(s)
	f.items += len(widths)
	f.ascent, f.descent = s.ascent, s.descent
	f.first, f.widths = 0, widths
	switch encoding := encoding.(type) {
	case object.Name:
		f.widths = inEncoding(encoding, widths)
	case object.Dict:
		f.widths = slices.Clone(inEncoding(r.file.Name(encoding["BaseEncoding"]), widths))
		r.differ(f, encoding, func(code int, glyph object.Name) {
			if code >= 0 && code < len(f.widths) {
				f.widths[code] = widthOf(glyph, widths)
			}
		})
	}
	return true
}

// inEncoding returns the widths by the codes of an encoding. Those of another one that has ASCII are nearly these.
func inEncoding(name object.Name, widths []float64) []float64 {
	if name != "MacRomanEncoding" {
		return widths
	}
	mac := slices.Clone(widths)
	for code := 128; code < len(mac); code++ {
		mac[code] = usualWidth
		if c, ok := charmap.Windows1252.EncodeRune(charmap.Macintosh.DecodeByte(byte(code))); ok {
			mac[code] = widths[c]
		}
	}
	return mac
}

// usualWidth is for glyphs that are not known, in ems.
const usualWidth = 0.5

// glyphCodes are the codes of glyphs in Windows-1252, apart from letters.
var glyphCodes = sync.OnceValue(func() map[object.Name]byte {
	all := map[object.Name]byte{}
	for i, name := range strings.Fields("space exclam quotedbl numbersign dollar percent ampersand quotesingle parenleft parenright " +
		"asterisk plus comma hyphen period slash zero one two three four five six seven eight nine colon semicolon less equal " +
		"greater question at") {
		all[object.Name(name)] = byte(' ' + i)
	}
	for code, name := range map[byte]object.Name{
		'[': "bracketleft", '\\': "backslash", ']': "bracketright", '^': "asciicircum", '_': "underscore", '`': "grave",
		'{': "braceleft", '|': "bar", '}': "braceright", '~': "asciitilde", 0x80: "Euro", 0x85: "ellipsis", 0x91: "quoteleft",
		0x92: "quoteright", 0x93: "quotedblleft", 0x94: "quotedblright", 0x95: "bullet", 0x96: "endash", 0x97: "emdash",
		0x99: "trademark", 0xA7: "section", 0xA9: "copyright", 0xAB: "guillemotleft", 0xAE: "registered", 0xBB: "guillemotright",
		0xC6: "AE", 0x8C: "OE", 0xE6: "ae", 0x9C: "oe", 0xD8: "Oslash", 0xF8: "oslash", 0xDF: "germandbls",
	} {
		all[name] = code
	}
	return all
})

// widthOf returns the width of a glyph from those of Windows-1252. A letter with an accent is as wide as one without.
func widthOf(glyph object.Name, widths []float64) float64 {
	if code, ok := glyphCodes()[glyph]; ok {
		return widths[code]
	}
	if len(glyph) > 0 && (len(glyph) == 1 || accents[glyph[1:]]) {
		return widths[glyph[0]]
	}
	return usualWidth
}

var accents = map[object.Name]bool{
	"acute": true, "breve": true, "caron": true, "cedilla": true, "circumflex": true, "commaaccent": true, "dieresis": true,
	"dotaccent": true, "grave": true, "hungarumlaut": true, "macron": true, "ogonek": true, "ring": true, "tilde": true,
}

// widthsOf returns the widths of the characters of Windows-1252, or of a font of symbols, in ems.
func (r *Reader) widthsOf(s standardFont) []float64 {
	if found, ok := r.standard[s]; ok {
		return found
	}
	p := fpdf.New("P", "pt", "A4", "")
	p.SetFont(s.family, s.style, 1)
	widths := make([]float64, 256)
	for code := range widths {
		widths[code] = float64(p.GetStringSymbolWidth(string([]byte{byte(code)}))) / 1000
	}
	r.standard[s] = widths
	return widths
}
