package ocr

// Without returns the page without the words for which drop is true, and without the lines and paragraphs that
// are empty then.
func (p Page) Without(drop func(Word) bool) Page {
	kept := p
	kept.Paragraphs, kept.Markdown = nil, "" // Markdown has all words
	for _, paragraph := range p.Paragraphs {
		var lines Paragraph
		for _, line := range paragraph {
			var words Line
			for _, w := range line {
				if !drop(w) {
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
