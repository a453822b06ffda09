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
	prose    = 3        // lines to one that is code: more of them are text in such letters
)

// codeLine matches lines that only code has: what begins a statement, a call, an assignment, or markup; a prompt.
var codeLine = pattern.New(`^\s*(?:#!|#include|//|/\*|<[/?!]?\w[^>]*>|@\w+\(|"[\w-]+"\s*:|[\w@~/.-]*[$>#] ?\w+ -|\$ \w|` +
	`(?:import|package|using) [\w.]+;?$|from [\w.]+ import |(?:def|func|function|class|fn) \w+.*[:{(]\s*$|` +
	`(?:elif|if|for|while|with) .*[=<>()[\]!_].*[:{]$|` +
	`return [\w.()"']+;?$|(?:public|private|protected|static|void|const|let|var) \w+.*[;{(=]|` +
	`(?i:select .+ from |insert into \w|create (?:table|index|view) |update \w+ set |delete from \w))|` +
	`\w\((?:[^()s][^()]*|s[^()]+)?\)(?:[;:{]|\.\w+\(.*)?\s*$|[)\]}"'\d];\s*$|[{}]\s*$|\S (?:[=!+*-]?=|:=|->|=>|&&|\|\|) \S|^\s*[\w.]+=\S|::`)

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

func isCode(held []line) bool {
	lines, code := 0, 0
	for _, t := range held {
		for text := range strings.Lines(t.look.Typed) {
			if strings.TrimSpace(text) != "" {
				lines++
			}
			if codeLine.MatchString(strings.TrimRight(text, "\n")) {
				code++
			}
		}
	}
	return code > 0 && lines <= prose*code
}
