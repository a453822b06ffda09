package pptx

import (
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
)

// themeNames are the elements of a:clrScheme, by the names of a deck's colours.
var themeNames = map[string]string{
	"dk1": "dark1", "lt1": "light1", "dk2": "dark2", "lt2": "light2", "accent1": "accent1", "accent2": "accent2",
	"accent3": "accent3", "accent4": "accent4", "accent5": "accent5", "accent6": "accent6", "hlink": "link",
	"folHlink": "followedLink",
}

// master is a slide master: what its layouts inherit.
type master struct {
	theme  *deck.Theme
	colors map[string]string // p:clrMap, e.g. bg1 → lt1
	styles *node             // p:txStyles
	layout                   // its own placeholders and decoration
}

func (r *reader) master(part string) (*master, error) {
	if m := r.masters[part]; m != nil {
		return m, nil
	}
	m := &master{colors: map[string]string{}}
	first := len(r.masters) == 0
	r.masters[part] = m
	root, err := parse(r.ctx, r.pkg, part)
	if err = ooxml.Optional(err); err != nil {
		return nil, err
	}
	relations, err := r.pkg.Relations(r.ctx, part)
	if err != nil {
		return nil, err
	}
	if m.theme, err = r.theme(ooxml.OfType(relations, "theme")); err != nil {
		return nil, err
	}
	if first && m.theme != nil {
		r.deck.Theme = *m.theme
	}
	if mapped := root.kid("clrMap"); mapped != nil {
		for _, a := range mapped.start.Attr {
			m.colors[a.Name.Local] = a.Value
		}
	}
	m.styles = root.kid("txStyles")
	m.layout.master = m
	return m, r.fill(&m.layout, root, relations)
}

// theme reads a theme part; nil: there is none.
func (r *reader) theme(part string) (*deck.Theme, error) {
	if part == "" {
		return nil, nil
	}
	root, err := parse(r.ctx, r.pkg, part)
	if err != nil {
		return nil, ooxml.Optional(err)
	}
	t := deck.HouseTheme()
	t.Name = clip(root.attr("name"), maxName)
	elements := root.kid("themeElements")
	if scheme := elements.kid("clrScheme"); scheme != nil {
		for _, k := range scheme.kids {
			name, known := themeNames[k.name()]
			if color := plainColor(k); known && color != "" {
				t.Colors[name] = color
			}
		}
	}
	for family, of := range map[string]*string{"majorFont": &t.Fonts.Major, "minorFont": &t.Fonts.Minor} {
		if face := elements.at("fontScheme", family, "latin").attr("typeface"); face != "" {
			*of = clip(face, maxName)
		}
	}
	return &t, nil
}

const maxName = 200 // characters of a name

func clip(text string, most int) string {
	runes := []rune(strings.TrimSpace(text))
	return string(runes[:min(len(runes), most)])
}

// plainColor is the colour of a:srgbClr or a:sysClr within n, or "".
func plainColor(n *node) string {
	if c := n.kid("srgbClr"); c != nil {
		return hexColor(c.attr("val"))
	}
	return hexColor(n.kid("sysClr").attr("lastClr"))
}

func hexColor(digits string) string {
	if len(digits) != 6 || strings.Trim(digits, "0123456789abcdefABCDEF") != "" {
		return ""
	}
	return "#" + strings.ToUpper(digits)
}

// color returns the colour that n holds, e.g. an a:solidFill: "#RRGGBB", or a name of the theme when the file names it
// without a change. "" if there is none.
func (l *layout) color(n *node, theme *deck.Theme) string {
	if n == nil {
		return ""
	}
	if c := plainColor(n); c != "" {
		return modified(c, n.kid("srgbClr"))
	}
	if c := n.kid("schemeClr"); c != nil {
		name := l.themed(c.attr("val"))
		if name == "" {
			return ""
		}
		if len(c.kids) == 0 {
			return name
		}
		return modified(theme.Color(name, "dark1"), c)
	}
	if c := n.kid("prstClr"); c != nil {
		return presets[c.attr("val")]
	}
	return ""
}

// themed returns the deck's name of a colour of a scheme, e.g. tx1, by the master's map.
func (l *layout) themed(name string) string {
	if l != nil && l.master != nil {
		if to := l.master.colors[name]; to != "" {
			name = to
		}
	}
	switch name {
	case "tx1":
		name = "dk1"
	case "bg1":
		name = "lt1"
	case "tx2":
		name = "dk2"
	case "bg2":
		name = "lt2"
	}
	return themeNames[name]
}

// presets are the colours of ST_PresetColorVal that are in use.
var presets = map[string]string{
	"black": "#000000", "white": "#FFFFFF", "red": "#FF0000", "green": "#008000", "blue": "#0000FF",
	"yellow": "#FFFF00", "gray": "#808080", "grey": "#808080", "orange": "#FFA500", "purple": "#800080",
}

// filling returns the colour of a shape's fill: of a gradient its first stop, of a pattern its foreground. none: it says
// that there is none.
func (l *layout) filling(n *node, theme *deck.Theme) (color string, none bool) {
	if n == nil {
		return "", false
	}
	if n.kid("noFill") != nil {
		return "", true
	}
	if f := n.kid("solidFill"); f != nil {
		return l.color(f, theme), false
	}
	if f := n.kid("gradFill").at("gsLst", "gs"); f != nil {
		return l.color(f, theme), false
	}
	return l.color(n.kid("pattFill").kid("fgClr"), theme), false
}
