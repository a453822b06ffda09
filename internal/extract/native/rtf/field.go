package rtf

import "github.com/seed-7227ef26/async-worker/internal/extract/native/flow"

// instruction reads the rest of the group as the instruction of a field, whose result follows.
func (r *reader) instruction() {
	r.target = ""
	r.readText(func(text string) { r.target = flow.Hyperlink(text) })
}

// readText gives the text of the rest of the group to a function; of a group within another destination it is skipped.
func (r *reader) readText(then func(text string)) {
	if r.to != body {
		r.to = skipped
		return
	}
	r.to = instruction
	r.entry = entry{}
	r.end = func() error {
		then(r.entry.text.String())
		r.entry = entry{}
		return nil
	}
}

// result makes the rest of the group the text of the link of its field, if it is one.
func (r *reader) result() {
	target := r.target
	r.target = ""
	if target == "" || r.to != body {
		return
	}
	story := r.story
	story.links.Begin(target, story.text.Len())
	r.end = func() error {
		story.links.End(story.text.Len())
		return nil
	}
}
