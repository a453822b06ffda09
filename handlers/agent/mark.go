package agent

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Passages are enclosed in tags with the run's mark. Documents can't know the mark, so their text can't end the tag.
// Attributes are JSON strings with < and > escaped, so a file's name or a heading can't end it either.

// show adds a passage to a tool's result, from a byte of its text on; one that is still in the conversation is only
// named. It returns false if there is no room for the passage.
func (r *run) show(out *result, p store.Passage, from int) bool {
	head := r.head(p)
	at, known := r.state.Read[p.ChunkID]
	if from == 0 && known && at.Turn >= 0 && at.Turn < min(out.turn, len(r.state.Turns)) && !r.state.Turns[at.Turn].Short {
		return out.add(head + "/> (shown above)\n")
	}
	text := r.data(p.Content)
	from = min(from, len(text))
	for from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	shown, ok := r.enclose(out, head, text[from:])
	if !ok {
		return false
	}
	if end := from + shown; end < len(text) {
		out.note(`cut here: %d of its %d bytes are left. Call read_chunks with this id alone and "from": %d for more.`,
			len(text)-end, len(text), end)
	} else if from == 0 {
		r.state.Read[p.ChunkID] = source{Turn: out.turn}
		return true
	}
	if !known {
		r.state.Read[p.ChunkID] = source{Turn: -1}
	}
	return true
}

// head returns the start of a passage's tag.
func (r *run) head(p store.Passage) string {
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
	return head
}

// leastShown is how many bytes of a text are shown at least, whatever room its tags leave.
const leastShown = 400

// enclose adds data between tags and returns how many bytes of it. What is too long is cut if it comes first in the
// result; later, there is no room for it (not ok).
func (r *run) enclose(out *result, head, data string) (shown int, ok bool) {
	end := "\n</document-text-" + r.state.Mark + ">\n"
	if room := out.room() - len(head) - len(">\n") - len(end); len(data) > room {
		if out.text.Len() > 0 {
			return 0, false
		}
		data = strings.ToValidUTF8(data[:min(len(data), max(room, leastShown))], "")
	}
	out.text.WriteString(head + ">\n" + data + end)
	return len(data), true
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
