package pdf

import (
	"math"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/section"
)

// piece is lines that belong together: a paragraph, a heading, a list item, or a table.
type piece struct {
	box
	look
	page   *page
	lines  []line
	marker string // of a list item
	table  *extract.Table
	drawn  *ruledTable // of a table whose lines are drawn
	first  bool        // first of its region: may continue the previous region
	above  float64     // distance to the line above in line heights; large for the first
	column box         // of its region
	next   *piece      // the one below in its region
	flush  bool        // running text begins at its left edge
}

// text returns the piece's joined lines.
func (p *piece) text(join func(a, b string) string) string {
	var s textBuilder
	for i, l := range p.lines {
		t := l.text()
		if i == 0 {
			if p.marker != "" {
				t = joinWords(p.itemWords(l.words()))
			}
			s.tail = t
			continue
		}
		s.add(join, t)
	}
	return s.String()
}

// splitter cuts regions into pieces.
type splitter struct {
	last  ordinalSeen            // the last number of a list
	lists map[string]ordinalSeen // the last numbers of all lists, by their shape
	edges map[int]struct{}       // the left edges of running text, see edgeOf
}

// maxAbove is the distance above a piece that is the first.
const maxAbove = 99

// pieces cuts a region's lines.
func (sp *splitter) pieces(p *page, r region) []*piece {
	var out []*piece
	for _, s := range strips(p.known, r.lines) {
		if s.table != nil {
			out = append(out, &piece{page: p, table: s.table, drawn: s.drawn, column: r.box, lines: s.lines, above: maxAbove})
			continue
		}
		out = append(out, sp.paragraphs(p, region{r.box, s.lines}, len(out) == 0)...)
	}
	for _, pc := range out {
		for _, l := range pc.lines {
			pc.box = pc.union(l.box)
		}
		pc.look = lookOf(wordsIn(pc.lines))
	}
	sp.relate(out)
	return out
}

// relate tells each piece of a region about the others.
func (sp *splitter) relate(pieces []*piece) {
	for i, p := range pieces {
		if i+1 < len(pieces) {
			p.next = pieces[i+1]
		}
		if len(p.lines) > 1 && p.table == nil && !p.wholly() && len(sp.edges) < maxEdges {
			sp.edges[edgeOf(p.lines[len(p.lines)-1].left)] = struct{}{}
		}
	}
	for _, p := range pieces {
		for _, near := range []float64{-edgeStep, 0, edgeStep} {
			_, ok := sp.edges[edgeOf(p.left+near)]
			p.flush = p.flush || ok
		}
	}
}

const (
	edgeStep = 3 // points
	maxEdges = 1000
)

func edgeOf(x float64) int { return int(x / edgeStep) }

// paragraphs cuts lines that are not part of a table. first reports whether they begin their region.
func (sp *splitter) paragraphs(p *page, r region, first bool) []*piece {
	var out []*piece
	var cur *piece
	for i, l := range r.lines {
		leading := leadingAt(r.lines, i)
		starts, marker := sp.starts(r, i, cur, leading)
		if !starts {
			cur.lines = append(cur.lines, l)
			continue
		}
		above := float64(maxAbove)
		if i > 0 {
			above = (l.centerY() - r.lines[i-1].centerY()) / leading
		}
		cur = &piece{
			page: p, lines: []line{l}, marker: marker, first: first && len(out) == 0, above: above, column: r.box,
		}
		out = append(out, cur)
	}
	return out
}

// leadingAt returns the usual distance in points between lines like line i within a paragraph: the lower third
// of the distances nearby, because those between paragraphs are larger.
func leadingAt(lines []line, i int) float64 {
	d := distances(lines, i)
	if len(d) < 4 {
		d = append(d, 1.3*lines[i].size, 1.3*lines[i].size)
	}
	slices.Sort(d)
	return max(d[len(d)/3], 1)
}

// distances returns the distances of neighbors near line i that are of its size.
func distances(lines []line, i int) []float64 {
	const reach = 12
	var d []float64
	for j := max(1, i-reach); j < min(len(lines), i+reach); j++ {
		if a, b := lines[j-1], lines[j]; similar(a.size, b.size) && similar(b.size, lines[i].size) &&
			a.mono == b.mono && b.mono == lines[i].mono && b.centerY() > a.centerY() {
			d = append(d, b.centerY()-a.centerY())
		}
	}
	return d
}

// nearestLines returns the least of the distances that lines of text can have.
func nearestLines(lines []line, i int) float64 {
	least := math.Inf(1)
	for _, d := range distances(lines, i) {
		if d > 0.8*lines[i].size {
			least = min(least, d)
		}
	}
	return least
}

func similar(a, b float64) bool { return abs(a-b) <= 0.1*max(a, b) }

// starts reports whether line i begins a new piece, and its list marker.
func (sp *splitter) starts(r region, i int, cur *piece, leading float64) (bool, string) {
	l := r.lines[i]
	words := l.words()
	if len(words) > 1 && (isBullet(words[0]) || isSymbol(words[0]) && tellsProse(words[1:])) &&
		words[1].left-words[0].right > 0.1*words[1].em() && (cur == nil || !cur.separatedBy(words[0].text)) {
		return true, bulletMarker
	}
	fresh := cur == nil || sp.parted(r, i, cur, leading)
	if len(words) > 1 && !words[0].backwards && ordinal.MatchString(words[0].text) {
		opens := fresh || endsSentence(cur.lines[len(cur.lines)-1].text())
		if sp.opensList(r.left, words, opens, l.size) {
			return true, words[0].text
		}
	}
	return fresh, ""
}

// bulletMarker replaces every bullet.
const bulletMarker = "-"

// parted reports whether line i begins a new piece after the lines of cur.
func (sp *splitter) parted(r region, i int, cur *piece, leading float64) bool {
	l, prev := r.lines[i], cur.lines[len(cur.lines)-1]
	em := max(l.size, prev.size)
	usual := leading
	// Lines far apart may still be those of one paragraph: full ones, and no others are nearer to each other.
	far := em*1.9 < leading
	if far && prev.reaches(r.lines, i) {
		if nearest := nearestLines(r.lines, i); nearest < 2.6*em { // most may be between the items of a list
			far = l.centerY()-prev.centerY() > 1.05*nearest
		}
	}
	if em > 1.3*leading || far {
		usual = 1.25 * em
	}
	switch {
	case !similar(l.size, prev.size), l.mono != prev.mono:
		return true
	case l.centerY()-prev.centerY() > 1.3*usual, l.centerY() < prev.centerY(), l.left > prev.right, prev.left > l.right:
		return true
	case entryLine(prev.words()), turnsAround(prev.words(), l.words()):
		return true
	}
	right := rightAround(r.lines, i)
	if changesFont(prev, l, usual, right) {
		return true
	}
	short := right - prev.right
	if short > 3*em && (l.italic != prev.italic || cur.marker == "" && endsInCapitals(prev, l)) {
		return true
	}
	if short > l.room()+1.2*em {
		last := prev.text()
		if endsSentence(last) || short > 0.4*(right-r.left) && startsNew(l.text()) && !headGoesOn(prev, l) {
			return true
		}
	}
	return indented(r, i, cur, em)
}

// endsInCapitals reports whether the first of two lines is in capitals, and the second one isn't.
func endsInCapitals(prev, l line) bool {
	text := prev.text()
	return letters(text) > 3 && section.InCapitals(text) && !section.InCapitals(l.text())
}

// headGoesOn reports whether two lines are those of one heading: centered ones in capitals, or one beside the text, whose
// room is narrower than the text's, of bold lines. They are as close as the lines of a paragraph.
func headGoesOn(prev, l line) bool {
	text := l.text()
	if abs(l.centerX()-prev.centerX()) < 0.5*l.size && section.InCapitals(text) && section.InCapitals(prev.text()) {
		return l.centerY()-prev.centerY() < 1.4*l.size
	}
	return prev.bold && l.bold && boldnessOf(prev.words()).all && boldnessOf(l.words()).all && prev.face == l.face &&
		abs(l.left-prev.left) < 0.3*l.size && l.centerY()-prev.centerY() < 1.3*l.size && !section.Numbered(text) &&
		!entryLine(l.words()) && len(l.segments) == 1 && len(prev.segments) == 1
}

// reaches reports whether a line before line i is full: the next word had no room.
func (l line) reaches(lines []line, i int) bool {
	return rightAround(lines, i)-l.right < lines[i].room()+1.2*l.size
}

// room is the width that a line before this one would have needed for its first word. Chinese breaks after any
// character.
func (l line) room() float64 {
	w := l.segments[0].words[0]
	if first, _ := utf8.DecodeRuneInString(w.text); wideScript(first) {
		return min(w.width(), 2*w.em())
	}
	return w.width()
}

// rightAround returns the maximum right edge of the lines near line i.
func rightAround(lines []line, i int) float64 {
	right := 0.0
	for _, l := range lines[max(0, i-8):min(len(lines), i+9)] {
		if similar(l.size, lines[i].size) {
			right = max(right, l.right)
		}
	}
	return right
}

func startsNew(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(r) || unicode.IsDigit(r) || unicode.IsPunct(r)
}

// indented reports whether line i begins a new paragraph, judging by its left edge.
func indented(r region, i int, cur *piece, em float64) bool {
	l, prev := r.lines[i], cur.lines[len(cur.lines)-1]
	if cur.marker != "" && !cur.outdented(r, i, em) {
		return l.left < cur.lines[0].left-0.6*em // left of the list's markers
	}
	if abs(l.centerX()-prev.centerX()) < 0.5*em && abs(l.left-prev.left) > 0.5*em {
		return false // centered lines
	}
	d := l.left - prev.left
	switch {
	case d > 0.7*em && d < 8*em:
		// The first line of a paragraph: the next line is not indented, or the previous line was a last one.
		if first := cur.lines[0].words(); len(first) > 1 && abs(l.left-first[1].left) < 0.3*em {
			return false // a hanging indent after the number of the first line
		}
		back := i+1 < len(r.lines) && similar(r.lines[i+1].size, l.size) && abs(r.lines[i+1].left-prev.left) < 0.6*em
		return back && len(cur.lines) > 1 || back && startsNew(l.text()) || endsSentence(prev.text()) &&
			startsNew(l.text())
	case d < -0.7*em:
		return len(cur.lines) > 1
	}
	return false
}
