package pdf

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

// maxWords limits the words of one page; a newspaper page has some ten thousand.
const maxWords = 50_000

// tooManyWordsError reports a page with more than maxWords words.
type tooManyWordsError struct{ page int }

func (e *tooManyWordsError) Error() string {
	return fmt.Sprintf("page %d holds more than %d words", e.page, maxWords)
}

// readWords reads the output of `pdftotext -bbox-layout` and yields its pages, numbered from first. It yields
// only complete pages, so the partial page of a program that died is dropped.
func readWords(r io.Reader, first int, yield func(*page) error) error {
	m := newMarkup(r)
	var p *page
	var inWord bool
	var at word
	var pages, segment int
	for {
		text, tag, err := m.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name := tagName(tag)
		if inWord && p != nil {
			if string(name) != "/word" {
				continue
			}
			inWord = false
			if p.absent() {
				continue
			}
			if len(p.words) >= maxWords {
				return &tooManyWordsError{p.number}
			}
			raw := plain(text)
			chars, garbage := countChars(raw)
			p.chars, p.garbage = p.chars+chars, p.garbage+garbage
			if at.text = normalize(raw); isUnnamed(raw) {
				at.text = unnamedChar
			}
			if at.rtl = hasRightToLeft(at.text); at.rtl {
				at.text, at.visual = logical(at.text), raw
			}
			if at.text != "" {
				at.segment, at.order = segment, len(p.words)
				p.words = appendWord(p.words, at)
			}
			continue
		}
		switch string(name) {
		case "page":
			p = &page{number: first + pages, width: number(tag, "width"), height: number(tag, "height")}
			pages++
		case "line":
			segment++
		case "word":
			inWord, at = true, word{
				box: ordered(box{number(tag, "xMin"), number(tag, "yMin"), number(tag, "xMax"), number(tag, "yMax")}),
			}
		case "/page":
			if p != nil {
				if err := yield(p); err != nil {
					return err
				}
			}
			p = nil
		}
	}
}

// appendWord appends a word of poppler's. A dot leader is split from the title before it and from the number after it, and a
// bullet from the Chinese or Japanese that follows without a gap: an opening bracket has its own room before it.
func appendWord(words []word, w word) []word {
	w.text = withDots(w.text)
	if n := len(words); n > 0 && strings.HasSuffix(words[n-1].text, leastLeader) && words[n-1].segment == w.segment &&
		leaderEnd.MatchString(w.text) {
		if title, dots, _ := cutLeader(words[n-1], len(leastLeader)); dots.text != "" {
			dots.order, w.order = w.order, w.order+1
			words = append(words[:n-1], title, dots)
		}
	}
	if title, dots, number := cutLeader(w, leastAlone); dots.text != "" {
		first := len(words)
		for _, part := range []word{title, dots, number} {
			if part.text != "" {
				part.order = w.order + len(words) - first
				words = append(words, part)
			}
		}
		return words
	}
	first, n := utf8.DecodeRuneInString(w.text)
	if first < utf8.RuneSelf || !strings.ContainsRune("•◦▪‣●○■□◆►✓", first) {
		return append(words, w)
	}
	if next, _ := utf8.DecodeRuneInString(w.text[n:]); !wideScript(next) {
		return append(words, w)
	}
	mark := w
	mark.text, w.text = w.text[:n], w.text[n:]
	mark.right = min(w.left+0.5*w.height(), w.right)
	w.left, w.order = min(mark.right+0.15*w.height(), w.right), w.order+1
	return append(words, mark, w)
}

// leaderEnd matches what a dot leader leads to: the number of a page, also as A-3 or iv, or an amount.
var leaderEnd = pattern.New(`^(?:(?:\p{Lu}{1,2}[-–.]?)?\d+(?:[-–.]\d+)*|x{0,3}(?:i[vx]|v?i{1,3}|[vx])|[\p{Sc}(]{0,2}\d[\d.,]*[)%]?\p{Sc}?)$`)

// otherLeader matches a dot leader with narrow spaces in it, or of a character that the font doesn't map to Unicode.
var otherLeader = pattern.New(`\.(?: \.){4,}|\x{FFFD}{8,}`)

// withDots makes such a leader one of dots only.
func withDots(text string) string {
	if !strings.Contains(text, ". .") && !strings.ContainsRune(text, utf8.RuneError) {
		return text
	}
	return otherLeader.ReplaceAllStringFunc(text, func(s string) string {
		return strings.Repeat(".", utf8.RuneCountInString(strings.ReplaceAll(s, " ", "")))
	})
}

const (
	leastLeader = "....."
	leastAlone  = 8 // dots, where nothing follows
)

// cutLeader cuts a word at a dot leader without spaces around it. dots is empty if the word has none, or is one, or if the
// dots are those of running text: "1,2,.....,n", "continued....." with fewer than atEnd of them.
func cutLeader(w word, atEnd int) (title, dots, number word) {
	at := strings.Index(w.text, leastLeader)
	if at < 0 || w.rtl {
		return w, word{}, word{}
	}
	end := at + len(w.text[at:]) - len(strings.TrimLeft(w.text[at:], "."))
	if rest := w.text[end:]; rest == "" && (at == 0 || end-at < atEnd) || rest != "" && !leaderEnd.MatchString(rest) {
		return w, word{}, word{}
	}
	const letter = 2.0 // dots have the width of a letter
	before, after := letter*float64(utf8.RuneCountInString(w.text[:at])), letter*float64(utf8.RuneCountInString(w.text[end:]))
	unit := w.width() / (before + float64(end-at) + after)
	title, dots, number = w, w, w
	title.text, dots.text, number.text = w.text[:at], w.text[at:end], w.text[end:]
	title.right = w.left + before*unit
	dots.left, dots.right = title.right, w.right-after*unit
	number.left = dots.right
	return title, dots, number
}

// ordered returns b with its edges in order.
func ordered(b box) box {
	return box{min(b.left, b.right), min(b.top, b.bottom), max(b.left, b.right), max(b.top, b.bottom)}
}

// absent reports whether the document only counts the page. pdftotext repeats the words of the page before it there.
func (p *page) absent() bool { return p.width == 0 && p.height == 0 }
