package convert

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/deck/compose"
	"github.com/seed-7227ef26/async-worker/internal/evidence"
	"github.com/seed-7227ef26/async-worker/internal/llm/prompt"
)

// slide is a slide of the model's answer.
type slide struct {
	Title   string `json:"title"`
	Bullets []struct {
		Text   string `json:"text"`
		Source int    `json:"source"` // the number of a passage, from 1
	} `json:"bullets"`
}

// parse reads an answer. problem is why it can't be used.
func parse(text string) (slides []slide, problem string) {
	var a struct {
		Slides []slide `json:"slides"`
	}
	if err := json.Unmarshal(prompt.Object(text), &a); err != nil {
		return nil, "it was not the JSON object that was asked for"
	}
	for _, s := range a.Slides {
		if len(s.Bullets) > 0 {
			return a.Slides, ""
		}
	}
	return nil, "it has no slides with bullets"
}

// Limits of what is taken of an answer, in characters, of which every script has about as many a word: more is not a
// bullet.
const (
	maxBullet = 400
	maxTitle  = 200
)

// references matches numbers of passages, which don't belong in a text.
var references = regexp.MustCompile(`\s?\[\d{1,4}(?:\s*[,;–-]\s*\d{1,4})*\]`)

// take makes pages of the slides of a batch. A bullet belongs to the part whose passage it cites. Left out are bullets
// that are too long, that cite none, or that have numbers or quotations that their passage has not.
func (o *outline) take(batch []entry, slides []slide) {
	for _, s := range slides {
		byPart := map[int]*compose.Page{}
		var order []int
		for _, b := range s.Bullets {
			text := strings.TrimSpace(references.ReplaceAllString(b.Text, ""))
			if text == "" {
				continue // it says nothing that is lost
			}
			if utf8.RuneCountInString(text) > maxBullet {
				o.long++
				continue
			}
			if b.Source < 1 || b.Source > len(batch) {
				o.wrong++
				continue
			}
			from := batch[b.Source-1]
			if len(evidence.NewSource(o.parts[from.part].Blocks[from.block].Text).Unsupported(text)) > 0 {
				o.wrong++
				continue
			}
			if byPart[from.part] == nil {
				byPart[from.part] = &compose.Page{Title: o.titled(from.part, s.Title, len(order) > 0)}
				order = append(order, from.part)
			}
			o.said[from] = true
			p := byPart[from.part]
			p.Points = append(p.Points, compose.Point{Text: text, Block: from.block})
		}
		for _, part := range order {
			o.pages[part] = append(o.pages[part], *byPart[part])
		}
	}
}

// titled is the title of a page: the model's, if its numbers are those of the part, and else the part's. strays are
// bullets of another part than most of their slide's.
func (o *outline) titled(part int, title string, strays bool) string {
	title = strings.TrimSpace(references.ReplaceAllString(title, ""))
	if strays || utf8.RuneCountInString(title) > maxTitle {
		return ""
	}
	texts := []string{o.parts[part].Title}
	for _, b := range o.parts[part].Blocks {
		texts = append(texts, b.Text)
	}
	if len(evidence.NewSource(texts...).Unsupported(title)) > 0 {
		return ""
	}
	return title
}

// warn tells what the slides don't have of the model's answers.
func (o *outline) warn(batches int) {
	for _, reason := range slices.Sorted(maps.Keys(o.plain)) {
		o.warnings = append(o.warnings,
			fmt.Sprintf("%d of %d passages of the text are on the slides as they are: %s", o.plain[reason], batches, reason))
	}
	if o.wrong > 0 {
		o.warnings = append(o.warnings, fmt.Sprintf("%d bullets of the model were left out: they name no passage, "+
			"or one that doesn't have their numbers or quotations in it", o.wrong))
	}
	if o.long > 0 {
		o.warnings = append(o.warnings,
			fmt.Sprintf("%d bullets of the model were left out: they have more than %d characters", o.long, maxBullet))
	}
}
