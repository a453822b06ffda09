package agent

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Passages are enclosed in tags with the run's mark. Documents can't know the mark, so their text can't end the tag.
// Attributes are JSON strings with < and > escaped, so a file's name or a heading can't end it either.

// show adds a passage to a tool's result; one that is still in the conversation is only named.
func (r *run) show(out *result, p store.Passage, turn int) bool {
	head := fmt.Sprintf("<document-text-%s chunk_id=%s file=%s", r.state.Mark, attribute(p.ChunkID),
		attribute(p.Filename))
	if r.payload.DocumentSet == "" {
		head += " set=" + attribute(p.DocumentSet)
	}
	if len(p.Pages) > 0 {
		head += " pages=" + attribute(strings.Trim(strings.ReplaceAll(fmt.Sprint(p.Pages), " ", ","), "[]"))
	}
	if len(p.HeadingPath) > 0 {
		head += " headings=" + attribute(strings.Join(p.HeadingPath, " > "))
	}
	if at, shown := r.state.Read[p.ChunkID]; shown && at.Turn >= 0 && at.Turn < min(turn, len(r.state.Turns)) &&
		!r.state.Turns[at.Turn].Short {
		return out.add(head + "/> (shown above)\n")
	}
	text := r.data(p.Content)
	if !out.add(fmt.Sprintf("%s>\n%s\n</document-text-%s>\n", head, text, r.state.Mark)) {
		return false
	}
	r.state.Read[p.ChunkID] = source{Turn: turn}
	return true
}

// data returns text of a document without anything that looks like its end tag, and without invisible characters.
func (r *run) data(text string) string {
	return strings.ReplaceAll(visible(text), r.state.Mark, "")
}

// visible removes control characters, those that change the direction of writing, and the invisible copies of ASCII
// (tags), which can hide instructions.
func visible(text string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == '\n' || c == '\t':
			return c
		case unicode.IsControl(c), c >= 0xE0000 && c <= 0xE0FFF, c >= 0x202A && c <= 0x202E, c >= 0x2066 && c <= 0x2069:
			return -1
		}
		return c
	}, text)
}

// attribute returns a text as a JSON string on one line, in which no tag can begin or end.
func attribute(text string) string {
	raw, err := json.Marshal(clip(visible(strings.Join(strings.Fields(text), " ")), 300))
	if err != nil {
		panic("a string can't be written as JSON: " + err.Error())
	}
	return string(raw)
}
