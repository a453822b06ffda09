package pdf

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

// maxHeading limits a heading, in words.
const maxHeading = 25

// numbered matches the start of a section heading, for example "2.1 Methods", "IV. Results", "§ 3 Scope".
var numbered = pattern.New(`^(§\s?)?((\d{1,2}(\.\d{1,2})*)\.?|[IVX]{1,5}\.|[A-Z](\.\d{1,2})+\.?)\s+\p{L}`)

// numberedHead matches the head of a numbered statement: "Definition 1", "Example 2.3 (Bases)".
var numberedHead = pattern.New(`^\p{Lu}\p{L}+ \d+(\.\d+)*\b`)

// captionStart matches the start of a caption of a figure or table. The text after the number distinguishes it
// from a sentence about the figure.
var captionStart = pattern.New(`^[\[<【]?(?i:figure|fig\.?|table|tab\.?|listing|algorithm|scheme|chart|exhibit|plate|photo|abbildung|abb\.?|tabelle|tableau|figura|tabla|표|그림|图|表|図)(\s*\d+|\s+[IVX]+|\s+[A-Z])([.\-–]\d+)*\s*([:.)\]>】|–—-]|$|\s{2})`)

// isCaption reports whether a piece's text is a caption.
func isCaption(text string) bool { return captionStart.MatchString(text) }

// isHeading reports whether a piece without a list marker, or one whose marker may be a section number, is
// short and set like a heading: larger than the running text, bold or italic where that is not, or in capitals.
func isHeading(p *piece, text string, s *stats) bool {
	words := wordCount(text)
	ends, _ := utf8.DecodeLastRuneInString(text)
	if words > maxHeading || len(p.lines) > 4 || letters(text) < 2 || strings.ContainsRune(",;，；、", ends) ||
		p.math && words < 4 || isEntry(p) || p.hasCells() || !isProse(text) {
		return false
	}
	ratio := p.size / s.body()
	period := strings.ContainsRune(".。", ends) && words > 6
	number := numbered.MatchString(text)
	switch {
	case ratio >= 1.15:
		return !period && (!p.mono || s.mostlyMono())
	case p.leadsIn(), p.isByline():
		return false
	case p.marker != "" && words > 12:
		return false
	case ratio >= 0.9 && p.bold && !s.mostlyBold():
		return !period && p.wholly() && !(ratio < 1.05 && p.isTerm())
	case number && ratio >= 1.05:
		return !period
	}
	if len(p.lines) > 1 || p.width() > 0.75*p.column.width() || ratio < 0.97 || strings.ContainsRune(".:。：", ends) ||
		p.mono || p.isTerm() {
		return false
	}
	apart := p.above > 1.25 || s.repeats(p)
	if p.isOtherFace(s) && words <= 12 && letters(text) >= 4 && (apart || number || p.marker != "") {
		return true
	}
	if !apart || p.marker != "" {
		return false
	}
	return p.italic && !s.mostlyItalic() && words <= 10 && unicode.IsUpper([]rune(text)[0]) ||
		words <= 12 && letters(text) >= 4 && inCapitals(text)
}

// isByline reports whether a piece is right-aligned, as an author's name and a date are, in a script that isn't.
func (p *piece) isByline() bool {
	l := p.lines[0]
	return len(p.lines) == 1 && l.left > p.column.centerX() && p.column.right-l.right < p.size &&
		!slices.ContainsFunc(l.words(), func(w word) bool { return w.rtl })
}

// isOtherFace reports whether a piece is wholly in a font of another family than the running text, which follows it.
func (p *piece) isOtherFace(s *stats) bool {
	body := s.face()
	return body != "" && p.face != "" && p.face != body && !p.mono && !p.math && p.next != nil && p.next.table == nil &&
		p.next.face == body && (len(p.next.lines) > 1 || p.next.width() > 0.75*p.column.width())
}

// address matches an address of the web or of e-mail.
var address = pattern.New(`://|\bwww\.|\w@\w+\.\w`)

// isProse reports whether a text may be a heading by its characters: it has words, mostly of letters and digits, and no
// address. The labels of a figure, a formula and the syntax of a command aren't prose.
func isProse(text string) bool {
	longest, length, marks, all := 0, 0, 0, 0
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			length = 0
			continue
		case wideScript(r) && unicode.IsLetter(r):
			length += 2
		case unicode.IsLetter(r), unicode.Is(unicode.Mn, r):
			length++
		case !unicode.IsDigit(r):
			marks++
		}
		all++
		longest = max(longest, length)
	}
	return longest > 1 && 2*marks <= all && !address.MatchString(text)
}

// hasCells reports whether words of a piece are far apart, as in the head of a table; a section's number may be.
func (p *piece) hasCells() bool {
	for _, l := range p.lines {
		before := 0 // letters
		words := l.words()
		for i := 1; i < len(words); i++ {
			before += letters(words[i-1].text)
			if before > 1 && words[i].left-words[i-1].right > 1.8*words[i].em() {
				return true
			}
		}
	}
	return false
}

// isTerm reports whether a piece is the term of a definition: the next one is right below it and indented, unlike
// other text around them.
func (p *piece) isTerm() bool {
	next := p.next
	text := p.lines[0].text()
	first, _ := utf8.DecodeRuneInString(text)
	if next == nil || next.table != nil || next.wholly() || len(p.lines) > 1 || unicode.IsDigit(first) || first == '§' ||
		numbered.MatchString(text) || numberedHead.MatchString(text) {
		return false
	}
	indent := next.lines[0].left - p.left
	return indent > 1.2*p.size && indent < 8*p.size && next.above < 1.6 && p.flush
}

// isEntry reports whether a piece is an entry of a table of contents or of a form: with a dot leader, or with its page
// number far to the right.
func isEntry(p *piece) bool { return entryLine(p.lines[len(p.lines)-1].words()) }

func entryLine(words []word) bool {
	if len(words) < 2 {
		return false
	}
	if hasLeader(words) {
		return true
	}
	last, before := words[len(words)-1], words[len(words)-2]
	if onlyDots(before.text) && len(words) > 3 && onlyDots(words[len(words)-3].text) && pageNumber.MatchString(last.text) {
		return true
	}
	return letters(words[0].text)+letters(before.text) > 2 && last.left-before.right > 1.5*last.em() && pageNumber.MatchString(last.text)
}

// outlineIndex finds the levels of headings in the document's outline (its bookmarks).
type outlineIndex struct {
	levels map[string]int // by title
	pages  map[string]int
}

func newOutlineIndex(items []outlineItem) outlineIndex {
	x := outlineIndex{map[string]int{}, map[string]int{}}
	for _, item := range items {
		key := outlineKey(item.title)
		if _, twice := x.levels[key]; key != "" && !twice {
			x.levels[key], x.pages[key] = item.level, item.page
		}
	}
	return x
}

// level returns the level of a heading's text, or zero if the outline doesn't have it.
func (x outlineIndex) level(text string) int {
	if l := x.levels[outlineKey(text)]; l > 0 {
		return l
	}
	return x.levels[outlineKey(sectionNumber.ReplaceAllString(text, ""))]
}

// names reports whether the outline names text on the page.
func (x outlineIndex) names(text string, page int) bool {
	key := outlineKey(text)
	return key != "" && x.pages[key] == page
}

var sectionNumber = pattern.New(`^[\dIVX]+(\.\d+)*\.?\s+`)

func outlineKey(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// levels assigns levels to headings. The outline decides for headings that it names, and otherwise the more prominent
// style is higher: a heading is one level below the nearest preceding one that is higher. Numbers decide between numbered
// headings, whatever is between them.
type levels struct {
	outline  outlineIndex
	open     []openHeading
	numbered map[numberedLook]int // level
}

type openHeading struct {
	look
	caps  bool
	depth int // of its number; zero: none
	level int
}

// numberedLook is what numbered headings of one level have in common.
type numberedLook struct {
	depth int
	size  float64
	bold  bool
}

// next returns the level of the next heading, 1-6.
func (ls *levels) next(l look, text string) int {
	h := openHeading{look: l, caps: inCapitals(text), depth: depthOf(text)}
	key := numberedLook{h.depth, h.size, h.bold}
	named := ls.outline.level(text)
	if named == 0 && h.depth > 0 {
		named = ls.numbered[key]
	}
	for n := len(ls.open); n > 0; n = len(ls.open) {
		top := ls.open[n-1]
		if named > 0 && top.level < named || named == 0 && top.above(h) {
			break
		}
		ls.open = ls.open[:n-1]
	}
	switch n := len(ls.open); {
	case named > 0:
		h.level = named
	case n > 0:
		h.level = ls.open[n-1].level + 1
	default:
		h.level = 1
	}
	h.level = min(h.level, 6)
	ls.open = append(ls.open, h)
	if h.depth > 0 && len(ls.numbered) < maxStyles {
		if ls.numbered == nil {
			ls.numbered = map[numberedLook]int{}
		}
		ls.numbered[key] = h.level
	}
	return h.level
}

// above reports whether l is a heading within the part that h starts.
func (h openHeading) above(l openHeading) bool {
	if h.depth > 0 && l.depth > 0 {
		return h.depth < l.depth
	}
	switch {
	case abs(h.size-l.size) > 0.04*max(h.size, l.size):
		return h.size > l.size
	case h.bold != l.bold:
		return h.bold
	case h.caps != l.caps:
		return h.caps
	case h.italic != l.italic:
		return !h.italic
	}
	return false
}

// depthOf returns the depth of a heading's number, for example 2 for "3.1 Scope", or zero.
func depthOf(text string) int {
	m := numbered.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	return 1 + strings.Count(strings.TrimSuffix(m[2], "."), ".")
}
