package ocr

// Without returns the page without the words for which leave holds, and without what is empty then.
func (p Page) Without(leave func(Word) bool) Page {
	kept := p
	kept.Paragraphs, kept.Markdown = nil, "" // which has all words
	for _, paragraph := range p.Paragraphs {
		var lines Paragraph
		for _, line := range paragraph {
			var words Line
			for _, w := range line {
				if !leave(w) {
					words = append(words, w)
				}
			}
			if len(words) > 0 {
				lines = append(lines, words)
			}
		}
		if len(lines) > 0 {
			kept.Paragraphs = append(kept.Paragraphs, lines)
		}
	}
	return kept
}
