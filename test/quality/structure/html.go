package structure

import (
	"fmt"
	"html"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// HTML returns a document as a web page.
func HTML(d *Document) string {
	d = marked(d)
	var b strings.Builder
	direction := "ltr"
	if d.RightToLeft() {
		direction = "rtl"
	}
	fmt.Fprintf(&b, "<!DOCTYPE html>\n<html lang=%q dir=%q>\n<head><meta charset=\"utf-8\"><style>%s</style></head>\n<body>\n",
		d.Language, direction, style(d))
	for i := 0; i < len(d.Parts); i++ {
		p := d.Parts[i]
		if p.Kind == extract.ListItem {
			i += htmlList(&b, d.Parts[i:], p.Level) - 1
			continue
		}
		htmlPart(&b, p)
	}
	b.WriteString("</body>\n</html>\n")
	return htmlLinks(b.String())
}

func style(d *Document) string {
	var b strings.Builder
	b.WriteString(`@page { size: A4; margin: 22mm 20mm; font: 9pt "Noto Sans", "Noto Sans Arabic", "Noto Sans CJK SC" } body { font: 11pt/1.35 "Noto Sans", "Noto Sans Arabic", "Noto Sans CJK SC", sans-serif; margin: 0 }
h1 { font-size: 20pt } h2 { font-size: 15pt } h3 { font-size: 12.5pt } pre { font: 10pt monospace }
h1, h2, h3 { bookmark-level: none } .break { break-before: page } .small { font-size: 8.5pt } .bold, .term { font-weight: bold }
.centered { text-align: center } .spaced { letter-spacing: .35em } .term { margin-bottom: 0; break-after: avoid }
.definition { margin: 0 0 6pt; margin-inline-start: 12mm } .note { font-size: 8.5pt; margin: 2pt 0 }
.entry { display: flex; margin: 1pt 0 } .entry span { flex: none; white-space: nowrap } .entry i { flex: 1; font-style: normal; margin: 0 4pt;
overflow: hidden; white-space: nowrap; height: 1.35em; text-align: end } .entry i::before { content: "` + strings.Repeat(". ", 90) + `" }
table { border-collapse: collapse; margin: 8pt 0 } td, th { padding: 3pt 6pt; text-align: start; vertical-align: top }
table.ruled td, table.ruled th { border: 0.7pt solid #333 } table.open td, table.open th { padding: 3pt 14pt }
table.rows td, table.rows th { border-top: 0.7pt solid #333; border-bottom: 0.7pt solid #333 }
table.book thead th { border-top: 1pt solid #000; border-bottom: 0.5pt solid #000 } table.book { border-bottom: 1pt solid #000 }
table.stripes tbody tr:nth-child(odd) { background: #e4e9f0; print-color-adjust: exact; -webkit-print-color-adjust: exact }
.beside { display: flex; gap: 12mm; font-size: 9pt } .rotated thead th { height: 90pt; vertical-align: bottom }
.rotated thead th span { writing-mode: vertical-rl; transform: rotate(180deg); white-space: nowrap }
@counter-style letters { system: alphabetic; symbols: a b c d e f g h; prefix: "("; suffix: ") " }
ol.letters { list-style: letters }
`)
	if d.Running != "" {
		fmt.Fprintf(&b, "@page { @top-center { content: %q } }\n", d.Running)
	}
	if d.Foot != "" {
		fmt.Fprintf(&b, "@page { @bottom-left { content: %q } @bottom-right { content: counter(page) } }\n", d.Foot)
	}
	if d.Justified {
		b.WriteString("body { text-align: justify; hyphens: auto }\n")
	}
	if d.Symbols {
		b.WriteString("ul { list-style: '■ ' } ul > li ul { list-style: '➢ ' } li ul > li ul { list-style: '✓ ' }\n")
	}
	if d.Columns > 1 {
		fmt.Fprintf(&b, "body { columns: %d; column-gap: 9mm; text-align: justify } h1 { column-span: all }\n", d.Columns)
	}
	return b.String()
}

// htmlList writes the items from the first one on that have at least its level, and returns how many.
func htmlList(b *strings.Builder, parts []Part, level int) (n int) {
	tag := "ol"
	if parts[0].Marker == "-" {
		tag = "ul"
	}
	attributes := ""
	if strings.HasPrefix(parts[0].Marker, "(") {
		attributes = ` class="letters"`
	}
	fmt.Fprintf(b, "<%s%s>\n", tag, attributes)
	for n < len(parts) && parts[n].Kind == extract.ListItem && parts[n].Level >= level &&
		(parts[n].Level > level || (n == 0 || sameList(parts[0], parts[n], n))) {
		fmt.Fprintf(b, "<li>%s", html.EscapeString(parts[n].Text))
		n++
		if n < len(parts) && parts[n].Kind == extract.ListItem && parts[n].Level > level {
			b.WriteByte('\n')
			n += htmlList(b, parts[n:], parts[n].Level)
		}
		b.WriteString("</li>\n")
	}
	fmt.Fprintf(b, "</%s>\n", tag)
	return n
}

// sameList reports whether the nth item belongs to the list of the first.
func sameList(first, item Part, n int) bool {
	return (first.Marker == "-") == (item.Marker == "-") && (first.Marker == "-" || n == 0 || item.Marker != first.Marker)
}

func htmlPart(b *strings.Builder, p Part) {
	rest := html.EscapeString(strings.TrimPrefix(p.Text, p.Lead))
	switch p.Kind {
	case extract.Heading:
		fmt.Fprintf(b, "<h%d%s>%s</h%d>\n", p.Level, class(p), rest, p.Level)
	case extract.Code:
		fmt.Fprintf(b, "<pre>%s%s</pre>\n", strong(p.Lead), rest)
	case extract.Caption:
		fmt.Fprintf(b, "<figure><figcaption%s>%s</figcaption></figure>\n", class(p), rest)
	case extract.TableKind:
		if p.Beside == nil {
			htmlTable(b, p)
			return
		}
		b.WriteString("<div class=\"beside\">\n")
		htmlTable(b, p)
		htmlTable(b, *p.Beside)
		b.WriteString("</div>\n")
	default:
		lead := strong(p.Lead)
		switch p.Look {
		case Entry:
			rest = strings.TrimSuffix(rest, p.Leader) + "</span><i></i><span>" + p.Leader + "</span>"
			lead = "<span>" + lead
		case Note:
			lead = "<sup>" + p.Lead + "</sup>"
		}
		fmt.Fprintf(b, "<p%s>%s%s</p>\n", class(p), lead, rest)
	}
}

// class is the attribute that has the look of a part.
func class(p Part) string {
	names := []string{}
	if p.Look != Plain {
		names = append(names, string(p.Look))
	}
	if p.Bold {
		names = append(names, "bold")
	}
	if p.Break {
		names = append(names, "break")
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf(" class=%q", strings.Join(names, " "))
}

func strong(text string) string {
	if text == "" {
		return ""
	}
	return "<b>" + html.EscapeString(text) + "</b>"
}

func htmlTable(b *strings.Builder, p Part) {
	class := "ruled"
	switch {
	case p.Open:
		class = "open"
	case p.Lines != "":
		class = string(p.Lines)
	}
	if p.Rotated {
		class += " rotated"
	}
	if p.Bold {
		class += " bold"
	}
	if p.Look != Plain {
		class += " " + string(p.Look)
	}
	fmt.Fprintf(b, "<table class=%q>\n<thead>\n", class)
	for r, row := range p.Table.Rows {
		if r == p.Table.Headers {
			b.WriteString("</thead>\n<tbody>\n")
		}
		tag := "td"
		if r < p.Table.Headers {
			tag = "th"
		}
		b.WriteString("<tr>")
		for c, cell := range row {
			fmt.Fprintf(b, "<%s", tag)
			if cell.ColSpan > 1 {
				fmt.Fprintf(b, " colspan=\"%d\"", cell.ColSpan)
			}
			if cell.RowSpan > 1 {
				fmt.Fprintf(b, " rowspan=\"%d\"", cell.RowSpan)
			}
			text := html.EscapeString(cell.Text)
			if p.Rotated && r < p.Table.Headers && c > 0 {
				text = "<span>" + text + "</span>"
			}
			fmt.Fprintf(b, ">%s</%s>", text, tag)
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody>\n</table>\n")
}
