package content

import (
	"math"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf/object"
)

// Font is what layout needs to know of a font (9.5): no glyphs and no characters.
type Font struct {
	Name         string // BaseFont, with the prefix of a subset; empty: it has none
	Bold, Italic bool   // as its descriptor says (9.8)

	family          string  // its name without a style
	ascent, descent float64 // above and below the base line, as parts of its size; descent is negative
	enlarged        float64 // its size is this much larger than what the page states
	known           bool    // its widths are known
	wide            bool    // its codes have two bytes
	first           int     // code of widths[0]
	widths          []float64
	others          float64         // width of the other codes
	wideWidths      map[int]float64 // of a font with wide codes
	items           int             // that were read of its arrays, which is about what it costs
}

// The bounds of fonts.
const (
	maxFonts     = 300     // of a page, and of a file that are kept
	maxWidths    = 70_000  // of a font
	maxItems     = 210_000 // of the arrays of a font: three for each width
	maxAllWidths = 400_000 // of a file that are kept, and of a page besides
)

// font returns a font of the resources, or nil.
func (in *interpreter) font(name object.Name) *Font {
	if f, ok := in.fonts[name]; ok {
		return f
	}
	if len(in.fonts) >= maxFonts {
		return nil
	}
	f := in.fontOf(in.file.Dict(in.resources["Font"])[name])
	in.fonts[name] = f
	return f
}

// fontOf returns the font that o is or refers to, or nil.
func (in *interpreter) fontOf(o object.Object) *Font {
	r := in.reader
	ref, isRef := o.(object.Ref)
	if f, ok := r.fonts[ref]; isRef && ok {
		return f
	}
	d := r.file.Dict(o)
	if d == nil || in.widths > maxAllWidths {
		return nil
	}
	f := r.readFont(d)
	if isRef && len(r.fonts) < maxFonts && r.widths+f.items <= maxAllWidths {
		r.fonts[ref] = f
		r.widths += f.items
	} else {
		in.widths += f.items
	}
	return f
}

func (r *Reader) readFont(d object.Dict) *Font {
	f := &Font{Name: string(r.file.Name(d["BaseFont"])), ascent: 0.95, descent: -0.35, enlarged: 1}
	f.family = withoutStyle(f.Name)
	described := d
	switch r.file.Name(d["Subtype"]) {
	case "Type0":
		descendants := r.file.Array(d["DescendantFonts"])
		if len(descendants) == 0 {
			return f
		}
		described = r.file.Dict(descendants[0])
		f.wide = true
		r.describe(f, described)
		f.known = r.file.Name(d["Encoding"]) == "Identity-H" && r.readRanges(f, described)
	case "Type3":
		r.describe(f, described)
		r.readType3(f, d)
	default:
		r.describe(f, described)
		f.known = r.readWidths(f, d, 0.001) || r.readStandard(f, d)
	}
	return f
}

// describe reads a font's descriptor. Some have senseless heights.
func (r *Reader) describe(f *Font, d object.Dict) {
	d = r.file.Dict(d["FontDescriptor"])
	flags, _ := r.file.Number(d["Flags"])
	weight, _ := r.file.Number(d["FontWeight"])
	const italic, forceBold, bold = 1 << 6, 1 << 18, 700
	bits := int(max(0, min(flags, 1<<30)))
	f.Italic = bits&italic != 0
	f.Bold = bits&forceBold != 0 || weight >= bold
	const most = 3
	v, _ := r.file.Number(d["Ascent"])
	if v = math.Abs(v) / 1000; v > 0 && v < most {
		f.ascent = v
	}
	v, _ = r.file.Number(d["Descent"])
	if v = -math.Abs(v) / 1000; v < 0 && v > -most {
		f.descent = v
	}
	v, _ = r.file.Number(d["MissingWidth"])
	f.others = v / 1000
}

// readWidths reads the widths of a font with codes of one byte, in units of so many ems.
func (r *Reader) readWidths(f *Font, d object.Dict, unit float64) bool {
	first, ok := r.file.Number(d["FirstChar"])
	widths := r.file.Array(d["Widths"])
	if !ok || len(widths) == 0 || first < 0 || first > 255 {
		return false
	}
	f.first = int(first)
	f.items += len(widths)
	f.widths = make([]float64, min(len(widths), 256-f.first))
	for i := range f.widths {
		v, _ := r.file.Number(widths[i])
		f.widths[i] = v * unit
	}
	return true
}

// readType3 reads a font whose glyphs are drawings (9.6.5). What an em of it is, nothing says: as poppler does, the
// width of the letter m tells.
func (r *Reader) readType3(f *Font, d object.Dict) {
	m, ok := r.matrix(d["FontMatrix"])
	if !ok || m.a == 0 {
		return
	}
	f.known = r.readWidths(f, d, m.a)
	r.differ(f, r.file.Dict(d["Encoding"]), func(code int, glyph object.Name) {
		const usual = 0.6
		if w := f.width(code); glyph == "m" && w != 0 {
			f.enlarged = w / usual
		}
	})
	f.enlarged = math.Abs(f.enlarged * m.d / m.a)
}

// differ calls set with the codes and glyphs by which an encoding differs from its base (9.6.6.2).
func (r *Reader) differ(f *Font, encoding object.Dict, set func(code int, glyph object.Name)) {
	differences := r.file.Array(encoding["Differences"])
	f.items += len(differences)
	code := 0
	for _, o := range differences {
		switch v := r.file.Resolve(o).(type) {
		case float64:
			code = int(max(-1, min(v, 1<<16)))
		case object.Name:
			set(code, v)
			code++
		}
	}
}

// readRanges reads the widths of a font with wide codes (9.7.4.3).
func (r *Reader) readRanges(f *Font, d object.Dict) bool {
	if d == nil {
		return false
	}
	f.others = 1
	if v, ok := r.file.Number(d["DW"]); ok {
		f.others = v / 1000
	}
	f.wideWidths = map[int]float64{}
	all := r.file.Array(d["W"])
	f.items += len(all)
	for len(all) > 1 && f.items <= maxItems {
		first, ok := r.file.Number(all[0])
		if !ok || first < 0 || first > maxWidths {
			return false
		}
		if list := r.file.Array(all[1]); list != nil {
			f.items += len(list)
			for i, o := range list[:min(len(list), maxWidths)] {
				v, _ := r.file.Number(o)
				f.wideWidths[int(first)+i] = v / 1000
			}
			all = all[2:]
			continue
		}
		if len(all) < 3 {
			return false
		}
		last, _ := r.file.Number(all[1])
		v, ok := r.file.Number(all[2])
		if !ok || last > maxWidths {
			return false
		}
		for code := int(first); code <= int(last); code++ {
			f.wideWidths[code] = v / 1000
			f.items++
		}
		all = all[3:]
	}
	return f.items <= maxItems
}

// width returns the width of a code in ems.
func (f *Font) width(code int) float64 {
	if !f.wide {
		if i := code - f.first; i >= 0 && i < len(f.widths) {
			return f.widths[i]
		}
		return f.others
	}
	if v, ok := f.wideWidths[code]; ok {
		return v
	}
	return f.others
}

// withoutStyle returns a font's name up to its style.
func withoutStyle(name string) string {
	for _, style := range []string{"-Regular", "-Bold", "-BoldOblique", "-BoldItalic", "-Oblique", "-Italic", "-Roman"} {
		if i := strings.LastIndex(name, style); i >= 0 {
			return name[:i]
		}
	}
	return name
}
