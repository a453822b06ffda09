package pptx

import (
	"strconv"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml/numfmt"
)

// categories reads the cached texts of a c:cat, and the levels above them. format is that of numbers, and "" for texts.
func categories(n *node, points *int) (texts []string, groups [][]string, format string) {
	if levels := n.find("multiLvlStrCache"); levels != nil {
		texts, groups = nested(levels, points)
		return texts, groups, ""
	}
	cache := n.find("strCache")
	if cache == nil {
		if cache = n.find("numCache"); cache == nil {
			cache = n.find("strLit")
		}
		if format = cache.kid("formatCode").content(); format == "" && cache.name() == "numCache" {
			format = "General"
		}
	}
	if cache == nil {
		return nil, nil, ""
	}
	texts = fillTexts(cache, points)
	for _, text := range texts {
		if _, err := strconv.ParseFloat(text, 64); err != nil && text != "" {
			format = "" // they are said to be numbers, and are not
		}
	}
	return texts, nil, clip(format, 100)
}

func fillTexts(cache *node, points *int) []string {
	found := map[int]string{}
	count := cached(cache, points, func(i int, text string) { found[i] = clip(text, 4000) })
	texts := make([]string, min(count, maxPoints))
	for i := range texts {
		texts[i] = found[i]
	}
	return texts
}

// nested reads the levels of categories: the first c:lvl is the innermost, and an outer one has a text where it begins.
func nested(n *node, points *int) (texts []string, groups [][]string) {
	count := int(min(max(n.kid("ptCount").num("val", 0), 0), maxPoints))
	for k, lvl := range n.all("lvl") {
		level := fillTexts(lvl, points)
		if k == 0 {
			texts = append(level, make([]string, max(count-len(level), 0))...)
			continue
		}
		if level = append(level, make([]string, max(len(texts)-len(level), 0))...); len(groups) < maxGroups {
			groups = append(groups, level[:len(texts)])
		}
	}
	return texts, groups
}

// from1904 makes the categories of a chart that counts days from 1904 those of the writer, which counts from 1900.
func from1904(c *deck.Chart) {
	if numfmt.Parse(c.CategoryFormat) != numfmt.Date {
		return
	}
	for i, text := range c.Categories {
		if days, err := strconv.ParseFloat(text, 64); err == nil {
			c.Categories[i] = decimal(days + 1462)
		}
	}
}
