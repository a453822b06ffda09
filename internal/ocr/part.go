package ocr

import "math"

// On returns the reading of an image as that of its page: of width, height and boxes.
func (p Page) On(img Image) Page {
	p.Width, p.Height, p.DPI = img.Rect.Dx(), img.Rect.Dy(), img.DPI
	part := img.Part
	w, h := part.Right-part.Left, part.Bottom-part.Top
	if w <= 0 || h <= 0 {
		return p
	}
	p.Width, p.Height = int(math.Round(float64(p.Width)/w)), int(math.Round(float64(p.Height)/h))
	return p.moved(func(b Box) Box {
		return Box{part.Left + b.Left*w, part.Top + b.Top*h, part.Left + b.Right*w, part.Top + b.Bottom*h}
	})
}

// moved returns the page with all boxes mapped.
func (p Page) moved(move func(Box) Box) Page {
	paragraphs := make([]Paragraph, len(p.Paragraphs))
	for i, paragraph := range p.Paragraphs {
		paragraphs[i] = make(Paragraph, len(paragraph))
		for j, line := range paragraph {
			paragraphs[i][j] = make(Line, len(line))
			for k, word := range line {
				if word.Box.Known() {
					word.Box = move(word.Box)
				}
				paragraphs[i][j][k] = word
			}
		}
	}
	p.Paragraphs = paragraphs
	return p
}
