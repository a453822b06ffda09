// Package fonts finds the TrueType fonts of this machine that may be embedded in documents, and those for characters
// that a text's own font lacks.
package fonts

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// Folders are where fonts of the system are.
var Folders = []string{"/usr/share/fonts", "/usr/local/share/fonts"}

const (
	maxFiles = 5000
	maxSize  = 32 << 20 // bytes of one font
)

// Library is the fonts of some folders. It looks at them when the first is asked for. It is safe for concurrent use.
type Library struct {
	folders []string
	once    sync.Once
	fonts   []*Font

	mu    sync.Mutex
	other map[styledRune]*Font // for characters that other fonts lack; nil values: none has it
}

// New returns the fonts of folders, or of Folders.
func New(folders ...string) *Library {
	if len(folders) == 0 {
		folders = Folders
	}
	return &Library{folders: folders, other: map[styledRune]*Font{}}
}

// Font is a font's file.
type Font struct {
	Path         string
	Family       string
	Bold, Italic bool

	runes runes

	mu     sync.Mutex
	sfnt   *sfnt.Font
	buffer sfnt.Buffer
	widths map[rune]float64
}

// Open opens a font's file. The error says why it can't be embedded.
func Open(path string) (*Font, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read a font: %w", err)
	}
	if len(data) > maxSize {
		return nil, fmt.Errorf("the font %s has more than %d MB", path, maxSize>>20)
	}
	return parse(path, data)
}

func parse(path string, data []byte) (*Font, error) {
	if err := embeddable(data); err != nil {
		return nil, fmt.Errorf("the font %s %w", path, err)
	}
	parsed, err := sfnt.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("the font %s is damaged: %w", path, err)
	}
	f := &Font{Path: path, sfnt: parsed, widths: map[rune]float64{}, runes: coverage(data)}
	f.Family = f.name(sfnt.NameIDTypographicFamily)
	style := f.name(sfnt.NameIDTypographicSubfamily)
	if f.Family == "" {
		f.Family = f.name(sfnt.NameIDFamily)
	}
	if style == "" {
		style = f.name(sfnt.NameIDSubfamily)
	}
	switch strings.ToLower(style) {
	case "regular", "book", "roman", "normal":
	case "bold":
		f.Bold = true
	case "italic", "oblique":
		f.Italic = true
	case "bold italic", "bold oblique":
		f.Bold, f.Italic = true, true
	default:
		f.Family += " " + style // another width or weight
	}
	return f, nil
}

func (f *Font) name(id sfnt.NameID) string {
	name, err := f.sfnt.Name(&f.buffer, id)
	if err != nil {
		return ""
	}
	return name
}

// Bytes reads the font's file.
func (f *Font) Bytes() ([]byte, error) {
	data, err := os.ReadFile(f.Path)
	if err != nil {
		return nil, fmt.Errorf("read a font: %w", err)
	}
	return data, nil
}

// Has reports whether the font has a glyph for a character.
func (f *Font) Has(r rune) bool { return f.Width(r) >= 0 }

// Width is the width of a character as a part of the font's size; below 0: the font lacks it.
func (f *Font) Width(r rune) float64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if w, known := f.widths[r]; known {
		return w
	}
	w := -1.0
	if g, err := f.sfnt.GlyphIndex(&f.buffer, r); err == nil && g != 0 {
		const em = 1 << 16 // a size at which no width is rounded by much
		if a, err := f.sfnt.GlyphAdvance(&f.buffer, g, fixed.Int26_6(em), font.HintingNone); err == nil {
			w = float64(a) / em
		}
	}
	f.widths[r] = w
	return w
}

// load looks for fonts. Those that can't be embedded are not there.
func (l *Library) load() {
	count := 0
	for _, folder := range l.folders {
		_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.EqualFold(filepath.Ext(path), ".ttf") {
				return nil //nolint:nilerr // what can't be read is not there
			}
			if count++; count > maxFiles {
				return fs.SkipAll
			}
			if f, err := Open(path); err == nil {
				f.sfnt = nil // it is read again when it is used
				l.fonts = append(l.fonts, f)
			}
			return nil
		})
	}
	slices.SortFunc(l.fonts, func(a, b *Font) int { return cmp.Compare(a.Path, b.Path) })
}

// Name tells fonts apart: it is made of letters and digits.
func (f *Font) Name() string {
	sum := sha256.Sum256([]byte(f.Path))
	return "f" + hex.EncodeToString(sum[:6])
}
