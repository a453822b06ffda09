package fonts

import (
	"errors"
	"strings"
)

// ErrNone reports that this machine has no font that can be embedded.
var ErrNone = errors.New("no TrueType font is installed; apt install fonts-dejavu-core fonts-liberation, then restart the worker")

// alike are fonts that replace others: those of the same widths first.
var alike = map[string][]string{
	"arial":           {"Liberation Sans", "Arimo"},
	"helvetica":       {"Liberation Sans", "Arimo"},
	"calibri":         {"Carlito"},
	"aptos":           {"Carlito"},
	"cambria":         {"Caladea", "Liberation Serif", "DejaVu Serif"},
	"times new roman": {"Liberation Serif", "Tinos", "DejaVu Serif"},
	"georgia":         {"Gelasio", "Liberation Serif", "DejaVu Serif"},
	"garamond":        {"EB Garamond", "Liberation Serif", "DejaVu Serif"},
	"courier new":     {"Liberation Mono", "Cousine", "DejaVu Sans Mono"},
	"consolas":        {"Liberation Mono", "DejaVu Sans Mono"},
	"verdana":         {"DejaVu Sans"},
	"tahoma":          {"DejaVu Sans"},
	"segoe ui":        {"Noto Sans"},
	"source sans pro": {"Noto Sans"},
}

// general are taken when nothing else is there.
var general = []string{"Liberation Sans", "Arimo", "Noto Sans", "DejaVu Sans", "FreeSans"}

// Find returns the font for a family, or one that looks like it. The error is ErrNone.
func (l *Library) Find(family string, bold, italic bool) (*Font, error) {
	l.once.Do(l.load)
	names := append([]string{family}, alike[strings.ToLower(family)]...)
	for _, name := range append(names, general...) {
		if f := l.named(name, bold, italic); f != nil {
			return f.ready()
		}
	}
	for _, f := range l.fonts {
		if f.runes.has('a') {
			return f.ready()
		}
	}
	return nil, ErrNone
}

// named returns the font of a family of the style, or else the one that is nearest; nil: none.
func (l *Library) named(family string, bold, italic bool) *Font {
	var best *Font
	score := -1
	for _, f := range l.fonts {
		if !strings.EqualFold(f.Family, family) {
			continue
		}
		s := 0
		if f.Bold == bold {
			s += 2
		}
		if f.Italic == italic {
			s++
		}
		if s > score {
			best, score = f, s
		}
	}
	return best
}

// Has finds a font with a character, of the style if there is one; nil: none has it.
func (l *Library) Has(r rune, bold, italic bool) *Font {
	l.once.Do(l.load)
	l.mu.Lock()
	defer l.mu.Unlock()
	key := styledRune{r, bold, italic}
	found, known := l.other[key]
	if !known {
		found = l.styledWith(key)
		l.other[key] = found
	}
	return found
}

// styledWith looks through all fonts.
func (l *Library) styledWith(key styledRune) *Font {
	found := l.with(key.r)
	if found == nil {
		return nil
	}
	if styled := l.named(found.Family, key.bold, key.italic); styled != nil {
		if styled, err := styled.ready(); err == nil && styled.Has(key.r) {
			return styled
		}
	}
	return found
}

// styledRune is a character in a look.
type styledRune struct {
	r            rune
	bold, italic bool
}

// with looks for a font with a character, first among those without serifs.
func (l *Library) with(r rune) *Font {
	for _, sans := range []bool{true, false} {
		for _, f := range l.fonts {
			if strings.Contains(f.Family, "Sans") != sans || !f.runes.has(r) {
				continue
			}
			if f, err := f.ready(); err == nil && f.Has(r) {
				return f
			}
		}
	}
	return nil
}

// ready reads the font's file again.
func (f *Font) ready() (*Font, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.sfnt != nil {
		return f, nil
	}
	again, err := Open(f.Path)
	if err != nil {
		return nil, err
	}
	f.sfnt, f.widths = again.sfnt, map[rune]float64{}
	return f, nil
}
