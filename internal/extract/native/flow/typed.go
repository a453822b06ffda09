package flow

import (
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

// line is a block with its look and the notes that it refers to.
type line struct {
	extract.Block
	look  Look
	notes []extract.Block
}

const (
	maxTyped = 64 << 10 // bytes of paragraphs that are held; more are judged by those
	maxCode  = 120      // bytes of a line that may be code: a longer one is a paragraph
	prose    = 3        // lines to one that is code: more of them are text in such letters
)

// codeLine matches lines that only code has: what begins a statement, a call, an assignment, or markup; a prompt.
var codeLine = pattern.New(`^\s*(?:#!|#include|//|/\*|<[/?!]\w[^>]*>|<\w[^>]*=[^>]*>|@\w+\(|"[\w-]+"\s*:|[\w@~/.-]*[$>#] ?\w+ -|` +
	`(?:import|package|using) [\w.]+;?$|from [\w.]+ import |(?:def|func|function|class|fn) \w+.*[:{(]\s*$|` +
	`(?:elif|if|for|while|with) .*[=<>()[\]!_].*[:{]$|[A-Za-z_][\w.]*` + call + `|` +
	`return [\w.()"']+;?$|(?:public|private|protected|static|void|const|let|var) \w+.*[;{(=]|` +
	`(?i:select [\w.*()]+(?:, *[\w.*()]+)* from |create (?:table|index|view) |update \w+ set ))|` +
	`[{}]\s*$|\S (?:[=!+*-]?=|:=|->|=>|&&|\|\|) \S|^\s*[\w.]+=\S|::`)

// likeCode matches lines that code has among others, but contracts too: "clause 3;", "Rule 12(b)", "$ 500", "<date>".
var likeCode = pattern.New(`^\s*(?:<[\w:-]+/?>|\$ \w|(?i:select .+ from |insert into \w|delete from \w))|\w` + call + `|[)\]}"'\d];\s*$`)

// call matches the arguments of a call, to the end of the line; those of an item(s) are none.
const call = `\((?:[^()s][^()]*|s[^()]+)?\)(?:[;:{]|\.\w+\(.*)?\s*$`

// hold holds a paragraph that is set as code is, until the next one that isn't.
func (w *Writer) hold(l line) error {
	w.typed = append(w.typed, l)
	if w.typing += len(l.Text); w.typing < maxTyped {
		return nil
	}
	return w.flushTyped()
}

// flushTyped emits the paragraphs that are set as code is: as code if enough of their lines are.
func (w *Writer) flushTyped() error {
	held := w.typed
	w.typed, w.typing = nil, 0
	code := isCode(held)
	for _, t := range held {
		if code {
			t.Kind, t.Text, t.Links = extract.Code, t.look.Typed, nil
		}
		if err := w.block(t); err != nil {
			return err
		}
	}
	return nil
}

// isCode reports whether enough lines are code: one that nothing else has, and others that are like it.
func isCode(held []line) bool {
	lines, code, sure := 0, 0, false
	for _, t := range held {
		for text := range strings.Lines(t.look.Typed) {
			text = strings.TrimRight(text, "\n")
			if strings.TrimSpace(text) != "" {
				lines++
			}
			if len(text) > maxCode {
				continue
			}
			only := codeLine.MatchString(text)
			sure = sure || only
			if only || likeCode.MatchString(text) {
				code++
			}
		}
	}
	return sure && lines <= prose*code
}
