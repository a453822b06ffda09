package chart

import (
	"encoding/xml"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml/numfmt"
)

const (
	maxLevels   = 8    // of categories; further ones are left out
	maxRepeated = 4000 // bytes of the text of an outer level
)

// data reads a c:cat or c:val. Multi-level categories come innermost first; the outer ones are prepended.
func (c *chart) data() (points, error) {
	all, level, levels := points{}, points{}, 0
	code, numbers := numfmt.General, false
	var walk func() error
	walk = func() error {
		return c.d.Children(func(start xml.StartElement) error {
			switch start.Name.Local {
			case "formatCode":
				text, err := c.d.Text(maxText)
				code = numfmt.Parse(text)
				return err
			case "pt":
				return c.point(level, start, func(text string) string {
					if !numbers && code == numfmt.General {
						return text
					}
					return numfmt.Format(text, code, c.epoch1904)
				})
			case "numCache", "numLit":
				numbers = true
			case "lvl":
				if levels++; levels > maxLevels {
					c.d.Cut()
					return c.d.Skip()
				}
				level = points{}
				err := walk()
				if err == nil {
					all, err = c.outer(level, all)
				}
				level = points{}
				return err
			case "f", "extLst":
				return c.d.Skip()
			}
			return walk()
		}, nil)
	}
	err := walk()
	if len(all) == 0 {
		all = level
	}
	return all, err
}

// outer prepends the texts of an outer level to those of the inner levels; each applies until the next. It charges what
// they add before it joins them, because the file has a text once and each inner point repeats it.
func (c *chart) outer(level, inner points) (points, error) {
	if len(inner) == 0 {
		return level, nil
	}
	current := ""
	for _, i := range slices.Sorted(maps.Keys(inner)) {
		if text, ok := level[i]; ok {
			current = c.clip(text, maxRepeated)
		}
		if current == "" {
			inner[i] = strings.TrimSpace(inner[i])
			continue
		}
		if err := c.spend(len(current) + 1); err != nil {
			return nil, err
		}
		inner[i] = strings.TrimSpace(current + " " + inner[i])
	}
	return inner, nil
}

// clip returns at most limit bytes of a text.
func (c *chart) clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	c.d.Cut()
	end := limit
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}
