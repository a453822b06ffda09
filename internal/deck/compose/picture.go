package compose

import (
	"fmt"

	"github.com/seed-7227ef26/async-worker/internal/deck"
)

// place adds a slide for each picture of the section's pages: up to the last one that it has text on.
func (c *composer) place(s section) {
	last := s.page
	for _, b := range s.blocks {
		last = max(last, b.Page)
	}
	var left []Picture
	for _, p := range c.pictures {
		if p.Page > 0 && p.Page <= last {
			c.picture(s.title, s, p)
		} else {
			left = append(left, p)
		}
	}
	c.pictures = left
}

// rest adds the pictures that belong to no section.
func (c *composer) rest() {
	for _, p := range c.pictures {
		c.picture(c.deck.Title, section{title: c.deck.Title}, p)
	}
	c.pictures = nil
}

// picture adds a slide with a picture, as large as fits.
func (c *composer) picture(title string, s section, p Picture) {
	room := contentBox()
	box := room
	if p.Width > 0 && p.Height > 0 {
		scale := min(float64(room.W)/float64(p.Width), float64(room.H)/float64(p.Height), 12700*1.5) // 48 dots per inch at least
		box.W, box.H = int64(float64(p.Width)*scale), int64(float64(p.Height)*scale)
		box.X, box.Y = room.X+(room.W-box.W)/2, room.Y+(room.H-box.H)/2
	}
	alt := p.Alt
	if alt == "" {
		alt = "Picture from " + c.options.Filename
		if p.Page > 0 {
			alt += fmt.Sprintf(", page %d", p.Page)
		}
	}
	heading := c.title(section{title: title, heading: s.heading, page: p.Page})
	heading.Source = nil
	c.add(c.footed(deck.Slide{
		Layout: string(deck.TitleOnlyLayout), Title: title, Source: c.from(p.Page, nil),
		Elements: []deck.Element{heading, {
			Kind: deck.PictureElement, Name: "Picture", Alt: alt, Box: &box, Picture: &deck.Picture{Media: p.Key},
			Source: c.from(p.Page, nil),
		}},
	}))
}

// number gives the elements of a slide their ids.
func number(s *deck.Slide) {
	for i := range s.Elements {
		s.Elements[i].ID = fmt.Sprintf("e%d", i+1)
	}
}
