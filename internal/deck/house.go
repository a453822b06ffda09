package deck

// The house look: what decks of documents have, and presentations whose file says nothing else.

import "maps"

const (
	inch = 914400

	houseFont = "Arial" // metric-compatible fonts are on every system (Liberation Sans)
)

// WideSize is that of a slide of 16:9.
var WideSize = Size{Width: 12192000, Height: 6858000}

var houseColors = map[string]string{
	"dark1": "#1B2230", "light1": "#FFFFFF", "dark2": "#12355B", "light2": "#F2F5F9",
	"accent1": "#1F6FB2", "accent2": "#E07A1F", "accent3": "#2A9D7F", "accent4": "#7D5BA6", "accent5": "#C8402F",
	"accent6": "#D9A521", "link": "#1F6FB2", "followedLink": "#6B4E8E",
}

// muted is the colour of footers, on light backgrounds.
const muted = "#6B7686"

// HouseTheme returns the theme of the house look.
func HouseTheme() Theme {
	colors := make(map[string]string, len(houseColors))
	maps.Copy(colors, houseColors)
	return Theme{Name: "Harbour", Colors: colors, Fonts: Fonts{Major: houseFont, Minor: houseFont}}
}

// New returns a deck in the house look, without slides.
func New(title string) *Deck {
	return &Deck{Version: Version, Title: title, Size: WideSize, Theme: HouseTheme(), Layouts: HouseLayouts()}
}

// The margins and lines of the house look.
const (
	houseLeft   int64 = inch * 6 / 10
	houseWidth  int64 = 12192000 - 2*houseLeft
	houseTop    int64 = inch * 155 / 100
	houseBottom int64 = inch * 68 / 10
)

// HouseLayouts returns the layouts of the house look, for slides of WideSize. Their ids are their kinds.
func HouseLayouts() []Layout {
	half := (houseWidth - inch*4/10) / 2
	heading := Placeholder{
		Role: TitleRole, Box: &Box{X: houseLeft, Y: inch * 4 / 10, W: houseWidth, H: inch * 8 / 10}, Anchor: AnchorMiddle,
		Styles: []Style{{Size: 28, Bold: true, Color: "dark2", Font: "major", Line: 0.95}},
	}
	body := func(index int, x, w int64) Placeholder {
		return Placeholder{
			Role: BodyRole, Index: index, Box: &Box{X: x, Y: houseTop, W: w, H: houseBottom - houseTop}, Styles: bodyStyles(),
		}
	}
	content := func(kind LayoutKind, name string, bodies ...Placeholder) Layout {
		return Layout{
			ID: string(kind), Kind: kind, Name: name,
			Placeholders: append(append([]Placeholder{heading}, bodies...), footers(muted)...),
			Elements: []Element{
				bar("Edge", "dark2", 0, 0, 12192000, inch/8), bar("Rule", "accent2", houseLeft+91440, inch*125/100, inch*9/10, inch/24),
			},
		}
	}
	return []Layout{
		titleLayout(), sectionLayout(),
		content(ContentLayout, "Title and Content", body(1, houseLeft, houseWidth)),
		content(TwoLayout, "Two Content", body(1, houseLeft, half), body(2, houseLeft+houseWidth-half, half)),
		content(TitleOnlyLayout, "Title Only"),
		{ID: string(BlankLayout), Kind: BlankLayout, Name: "Blank", Placeholders: footers(muted)},
	}
}

func titleLayout() Layout {
	return Layout{
		ID: string(TitleLayout), Kind: TitleLayout, Name: "Title Slide", Background: "dark2",
		Placeholders: []Placeholder{
			{
				Role: TitleRole, Box: &Box{X: inch, Y: inch * 15 / 10, W: inch * 113 / 10, H: inch * 22 / 10},
				Anchor: AnchorBottom, Styles: []Style{{Size: 44, Bold: true, Color: "light1", Font: "major", Line: 0.95}},
			},
			{
				Role: SubtitleRole, Index: 1, Box: &Box{X: inch, Y: inch * 41 / 10, W: inch * 113 / 10, H: inch * 16 / 10},
				Styles: []Style{{Size: 20, Color: "light2"}},
			},
		},
		Elements: []Element{
			bar("Edge", "accent1", 0, 0, inch*3/10, 6858000),
			bar("Rule", "accent2", inch+91440, inch*39/10, inch*14/10, inch/18),
		},
	}
}

func sectionLayout() Layout {
	return Layout{
		ID: string(SectionLayout), Kind: SectionLayout, Name: "Section Header", Background: "light2",
		Placeholders: append([]Placeholder{
			{
				Role: TitleRole, Box: &Box{X: inch, Y: inch * 2, W: inch * 113 / 10, H: inch * 18 / 10},
				Anchor: AnchorBottom, Styles: []Style{{Size: 36, Bold: true, Color: "dark2", Font: "major", Line: 0.95}},
			},
			{
				Role: BodyRole, Index: 1, Box: &Box{X: inch, Y: inch * 41 / 10, W: inch * 113 / 10, H: inch * 2},
				Styles: []Style{{Size: 18, Color: "#43506A"}},
			},
		}, footers(muted)...),
		Elements: []Element{
			bar("Edge", "accent1", 0, 0, inch*3/10, 6858000),
			bar("Rule", "accent2", inch+91440, inch*392/100, inch*14/10, inch/20),
		},
	}
}

// bodyStyles are the levels of a body: bullets that get smaller.
func bodyStyles() []Style {
	styles := make([]Style, 0, 5)
	for level, size := range []float64{20, 18, 16, 16, 16} {
		char := "•"
		if level%2 == 1 {
			char = "–"
		}
		const step = inch * 34 / 100
		styles = append(styles, Style{
			Size: size, Margin: step * int64(level+1), Indent: -step * 95 / 100, Before: 900 - 200*min(level, 2),
			List: &List{Kind: BulletList, Char: char}, Line: 1.05,
		})
	}
	return styles
}

func footers(color string) []Placeholder {
	style := func(align Align) []Style { return []Style{{Size: 10, Color: color, Align: align}} }
	const y, h = inch * 69 / 10, inch * 4 / 10
	return []Placeholder{
		{
			Role: FooterRole, Index: 11, Box: &Box{X: houseLeft, Y: y, W: inch * 9, H: h}, Anchor: AnchorMiddle,
			Styles: style(AlignLeft),
		},
		{
			Role: NumberRole, Index: 12, Box: &Box{X: houseLeft + houseWidth - inch, Y: y, W: inch, H: h}, Anchor: AnchorMiddle,
			Styles: style(AlignRight),
		},
	}
}

func bar(name, color string, x, y, w, h int64) Element {
	return Element{
		Kind: ShapeElement, Name: name, Box: &Box{X: x, Y: y, W: w, H: h}, Shape: &Shape{Geometry: "rect", Fill: color},
	}
}
