package flow

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// typed are the bullets that people type before the points of a list. Signs that also say something, such as check
// boxes, arrows and dashes, are none.
const typed = "•◦▪▫‣⁃●○■◆◇❖➢➤►▸∙·"

// Items returns an Emit to emit that makes list items of paragraphs whose lines begin with a bullet: a list that its
// author made by hand. A line without one continues the item above it.
func Items(emit extract.Emit) extract.Emit {
	return func(b extract.Block) error {
		if b.Kind != extract.Paragraph {
			return emit(b)
		}
		from := 0 // of the current item
		for start := 0; start < len(b.Text); {
			end := len(b.Text)
			if n := strings.IndexByte(b.Text[start:], '\n'); n >= 0 {
				end = start + n + 1
			}
			if start > from && bullet(b.Text[start:end]) > 0 {
				if err := emit(part(b, from, start)); err != nil {
					return err
				}
				from = start
			}
			start = end
		}
		return emit(part(b, from, len(b.Text)))
	}
}

// part returns a part of a paragraph: an item if it begins with a bullet.
func part(b extract.Block, from, to int) extract.Block {
	if n := bullet(b.Text[from:to]); n > 0 {
		from += n
		b.Kind, b.Marker = extract.ListItem, "-"
	}
	b.Text, b.Links = b.Text[from:to], extract.CutLinks(b.Links, from, to)
	return b
}

// bullet returns the bytes of a line up to its text if a bullet and a space are before it, otherwise zero.
func bullet(line string) int {
	after := strings.TrimLeftFunc(line, unicode.IsSpace)
	r, size := utf8.DecodeRuneInString(after)
	// U+F000 to U+F0FF are the characters of symbol fonts, such as Wingdings.
	if !strings.ContainsRune(typed, r) && (r < '\uF000' || r > '\uF0FF') {
		return 0
	}
	text := strings.TrimLeftFunc(after[size:], unicode.IsSpace)
	if len(text) == len(after)-size || text == "" {
		return 0
	}
	return len(line) - len(text)
}
