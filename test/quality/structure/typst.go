package structure

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// Typst returns a document in Typst's markup.
func Typst(d *Document) string {
	var b strings.Builder
	header := "none"
	if d.Running != "" {
		header = "align(center, text(9pt)[" + literal(d.Running) + "])"
	}
	footer := ""
	if d.Foot != "" {
		footer = "footer: context [" + literal(d.Foot) + " #h(1fr) #counter(page).display()], "
	}
	fmt.Fprintf(&b, `#set page(paper: "a4", margin: 22mm, numbering: "1", header: %s, %scolumns: %d)
#set text(11pt, font: ("Noto Sans", "Noto Sans Arabic", "Noto Sans CJK SC"), lang: "%s")
#set par(justify: %t)
#show heading.where(level: 1): set text(18pt)
#show heading.where(level: 2): set text(14pt)
#show heading.where(level: 3): set text(11.5pt)
`, header, footer, max(1, d.Columns), d.Language, d.Columns > 1 || d.Justified)
	if d.Symbols {
		b.WriteString("#set list(marker: ([■], [➢], [✓]))\n")
	}
	for i := 0; i < len(d.Parts); i++ {
		p := d.Parts[i]
		if p.Kind == extract.ListItem {
			i += typstList(&b, d.Parts[i:], p.Level) - 1
			continue
		}
		typstPart(&b, p, d.RightToLeft())
	}
	return b.String()
}

// literal is a text as an expression of a content block.
func literal(text string) string {
	return `#"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(text) + `"`
}

func typstList(b *strings.Builder, parts []Part, level int) (n int) {
	function := "enum"
	switch {
	case parts[0].Marker == "-":
		function = "list"
	case strings.HasPrefix(parts[0].Marker, "("):
		function = `enum(numbering: "(a)",` // closed below
	}
	if strings.HasSuffix(function, ",") {
		b.WriteString("#" + function)
	} else {
		b.WriteString("#" + function + "(")
	}
	for n < len(parts) && parts[n].Kind == extract.ListItem && parts[n].Level >= level &&
		(parts[n].Level > level || sameList(parts[0], parts[n], n)) {
		b.WriteString("[" + literal(parts[n].Text))
		n++
		if n < len(parts) && parts[n].Kind == extract.ListItem && parts[n].Level > level {
			n += typstList(b, parts[n:], parts[n].Level)
		}
		b.WriteString("],\n")
	}
	b.WriteString(")\n\n")
	return n
}

func typstPart(b *strings.Builder, p Part, rtl bool) {
	if p.Break {
		b.WriteString("#pagebreak()\n")
	}
	if before, ok := typstLooks[p.Look]; ok {
		if rtl {
			before = strings.Replace(before, "left", "right", 1)
		}
		b.WriteString(before + "[")
		defer b.WriteString("]\n\n")
	}
	switch p.Kind {
	case extract.Heading:
		fmt.Fprintf(b, "#heading(level: %d)[%s]\n\n", p.Level, literal(p.Text))
	case extract.Code:
		fmt.Fprintf(b, "#[#show regex(\"^%s\"): strong\n#raw(block: true, %s)]\n\n", cmp.Or(p.Lead, "no lead"),
			strings.TrimPrefix(literal(p.Text), "#"))
	case extract.TableKind:
		if p.Beside == nil {
			b.WriteString("#" + typstTable(p) + "\n\n")
			return
		}
		fmt.Fprintf(b, "#text(9pt, grid(columns: 2, gutter: 10mm, %s, %s))\n\n", typstTable(p), typstTable(*p.Beside))
	default:
		text := strings.TrimPrefix(p.Text, p.Lead)
		switch {
		case p.Look == Note:
			fmt.Fprintf(b, "#super[%s]", p.Lead)
		case p.Lead != "":
			fmt.Fprintf(b, "*%s*", literal(p.Lead))
		case p.Bold:
			fmt.Fprintf(b, "*%s*\n\n", literal(text))
			return
		}
		if p.Look == Entry {
			fmt.Fprintf(b, "%s #box(width: 1fr, repeat[. ]) %s\n\n", literal(strings.TrimSuffix(text, p.Leader)), p.Leader)
			return
		}
		b.WriteString(literal(text) + "\n\n")
	}
}

// typstLooks are the functions that draw parts in a look.
var typstLooks = map[Look]string{
	Small: "#text(8.5pt)", Centered: "#align(center)", Spaced: "#text(tracking: .35em)", Note: "#text(8.5pt)",
	Definition: "#pad(left: 12mm)", Term: "#block(below: 4pt, sticky: true)",
}

func typstTable(p Part) string {
	var b strings.Builder
	stroke, gutter, line := "0.6pt", "", ""
	switch {
	case p.Open:
		stroke, gutter = "none", "column-gutter: 8mm, "
	case p.Lines == Rows:
		stroke = "(x: none, y: 0.6pt)"
	case p.Lines == Book:
		stroke, line = "none", "table.hline(stroke: 0.8pt), "
	case p.Lines == Stripes:
		stroke, gutter = "none", "fill: (_, y) => if calc.odd(y) { luma(225) }, "
	}
	fmt.Fprintf(&b, "table(columns: %d, stroke: %s, %salign: start + top,\n", width(p.Table), stroke, gutter)
	for r, row := range p.Table.Rows {
		if r == 0 && p.Table.Headers > 0 {
			b.WriteString("table.header(" + line)
		}
		for c, cell := range row {
			content := "[" + literal(cell.Text) + "]"
			if r < p.Table.Headers || p.Bold {
				content = "[*" + literal(cell.Text) + "*]"
				if p.Rotated && c > 0 {
					content = "rotate(-90deg, reflow: true, box(" + content + "))"
				}
			}
			fmt.Fprintf(&b, "table.cell(colspan: %d, rowspan: %d, %s), ", max(1, cell.ColSpan), max(1, cell.RowSpan), content)
		}
		if r == p.Table.Headers-1 {
			b.WriteString(line + "),")
		}
		b.WriteByte('\n')
	}
	b.WriteString(line + ")")
	return b.String()
}

// width is how many columns a table has.
func width(t *extract.Table) (n int) {
	for _, cell := range t.Rows[0] {
		n += max(1, cell.ColSpan)
	}
	return n
}
