package pdf

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/section"
	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

// Below the title of an article, a report or a letter are its authors and its date, often as large as a heading.

// affiliations matches the marks after an author's name: letters and numbers of places, signs of footnotes.
var affiliations = pattern.New(`^([*∗†‡§¶#⋆★✉]+|\d{1,2}|[a-z])([,;]([*∗†‡§¶#⋆★✉]+|\d{1,2}|[a-z]))*[,;]?$`)

// datePart matches a part of a date: a year, a day, a date in digits, a month's name in a European language.
var datePart = pattern.New(`(?i)^((1[89]|20)\d\d([-./]\d\d?){0,2}|\d\d?(\.|st|nd|rd|th|er)?|(\d\d?[-./]){1,2}(1[89]|20)\d\d|de|of|` +
	`jan\p{L}{0,5}|f[eé][bv]\p{L}{0,6}|m[aä]r(ch|zo|s|z|ço|t)?|a[pbv]r(il|ile)?|ma[yijí]\p{L}{0,2}|maggio|ju[nil]\p{L}{0,4}|` +
	`giugno|luglio|gennaio|enero|a[uo][gû]\p{L}{0,4}|se[pt]\p{L}{0,7}|o[ckut]t\p{L}{0,5}|outubro|nov\p{L}{0,5}|d[eéi][cz]\p{L}{0,6}|` +
	`янв\p{L}{0,4}|фев\p{L}{0,5}|март\p{L}?|апр\p{L}{0,4}|ма[йя]|ию[нл]\p{L}?|авг\p{L}{0,4}|сен\p{L}{0,6}|окт\p{L}{0,5}|ноя\p{L}{0,4}|` +
	`дек\p{L}{0,5})$`)

// yearPart matches a year in a date.
var yearPart = pattern.New(`\b(1[89]|20)\d\d\b`)

// titleLines is how many lines of running text there are at most between a title and its authors.
const titleLines = 2

// isByline reports whether a text that is set like a heading is the authors' names, or the date, below the title on the
// first page: only short texts are above it, and the title is larger.
func (c *composer) isByline(p *piece, text string) bool {
	if p.page.number != 1 || c.title == 0 || c.begun || p.size >= 0.95*c.title {
		return false
	}
	return isDate(text) || !section.Numbered(text) && isNames(text, p.bold) || p.listsNames()
}

// listsNames reports whether each line of a piece may be somebody's name: three lines, or two that are right-aligned. The
// lines of a headline end where the next word has no room.
func (p *piece) listsNames() bool {
	right := true
	for i, l := range p.lines {
		if i > 0 && p.lines[i-1].width()+l.room() > p.column.width() {
			return false
		}
		if words := strings.Fields(l.text()); len(words) < 2 || len(words) > 4 || slices.ContainsFunc(words, isNoName) {
			return false
		}
		right = right && l.left > p.column.centerX() && p.column.right-l.right < p.size
	}
	return len(p.lines) >= 3 || len(p.lines) == 2 && right
}

// noteTitle notes the title and where its text begins.
func (c *composer) noteTitle(p *piece, heading bool) {
	switch {
	case heading && c.title == 0:
		c.title = p.size
	case !heading && c.title > 0 && len(p.lines) > titleLines && !p.listsNames():
		c.begun = true
	}
}

// isNoName reports whether a word can't be of a person's name.
func isNoName(w string) bool {
	first, _ := utf8.DecodeRuneInString(w)
	return !nameParts[w] && (!unicode.IsUpper(first) || isUpper(w) && !isInitials(w) || strings.ContainsAny(w, "0123456789:()"))
}

// isNames reports whether a text is several people's names, with the marks of their affiliations; without these, they
// are not bold. A name has two to five words, which begin with capitals.
func isNames(text string, bold bool) bool {
	marks, names := 0, 0
	var name []string
	end := func() bool {
		n := len(name)
		name = nil
		if n == 0 {
			return true
		}
		names++
		return n >= 2 && n <= 5
	}
	for w := range strings.FieldsSeq(strings.NewReplacer(",", " , ", ";", " , ", "·", " , ", "&", " , ").Replace(text)) {
		first, _ := utf8.DecodeRuneInString(w)
		switch {
		case w == "," || nameJoins[w]:
			if !end() {
				return false
			}
		case affiliations.MatchString(w) || strings.ContainsRune("*∗†‡§¶", first):
			marks++
			if !end() {
				return false
			}
		case unicode.IsUpper(first) && (isInitials(w) || !isUpper(w) || isUpper(text)) || nameParts[w]:
			name = append(name, strings.TrimRight(w, "*∗†‡§¶0123456789"))
		default:
			return false
		}
	}
	return end() && (names >= 2 && !bold || names >= 1 && marks > 0)
}

// nameJoins are what is between two names.
var nameJoins = map[string]bool{
	"and": true, "und": true, "et": true, "y": true, "e": true, "och": true, "og": true, "en": true, "и": true,
}

// nameParts are the parts of names that have no capital.
var nameParts = map[string]bool{
	"de": true, "da": true, "di": true, "der": true, "den": true, "del": true, "van": true, "von": true, "la": true, "le": true,
	"bin": true, "al": true, "dos": true, "du": true,
}

func isInitials(w string) bool { return strings.HasSuffix(w, ".") && utf8.RuneCountInString(w) <= 6 }

// isDate reports whether a text is a date with its year.
func isDate(text string) bool {
	words := strings.Fields(text)
	return len(words) <= 5 && yearPart.MatchString(text) && !slices.ContainsFunc(words, func(w string) bool {
		return !datePart.MatchString(strings.Trim(w, ",()"))
	})
}
