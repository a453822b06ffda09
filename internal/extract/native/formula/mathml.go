package formula

import (
	"strings"
	"unicode/utf8"
)

// mathML writes an element of MathML 3. Unknown elements are rows.
func (n *node) mathML() part {
	at := func(i int) part {
		if i < len(n.children) {
			return write(n.children[i])
		}
		return part{}
	}
	switch n.name {
	case "annotation", "annotation-xml", "mphantom", "maligngroup", "malignmark", "none", "mprescripts":
		return part{} // the same formula in another language, what is not drawn
	case "mi", "mn", "mtext", "ms", "ci", "cn":
		return part{text: n.token()}
	case "mo":
		return operator(n.token())
	case "mspace":
		return part{}
	case "maction":
		return at(0)
	case "mfrac":
		if t := strings.TrimSpace(n.attrs["linethickness"]); strings.HasPrefix(t, "0") && !strings.ContainsAny(t, "123456789") {
			return fraction(at(0), at(1), "¦")
		}
		return fraction(at(0), at(1), "/")
	case "msqrt":
		return root(part{}, n.row())
	case "mroot":
		return root(at(1), at(0))
	case "msub", "munder":
		return scripts(at(0), at(1), part{})
	case "msup":
		return scripts(at(0), part{}, at(1))
	case "mover":
		above := at(1) // written once: formulas nest, so twice would be twice as often at each level
		if accent := accents[strings.TrimSpace(above.text)]; accent != "" {
			return accented(at(0), accent)
		}
		return scripts(at(0), part{}, above)
	case "msubsup", "munderover":
		return scripts(at(0), at(1), at(2))
	case "mmultiscripts":
		return n.multiscripts()
	case "mtable":
		return n.mtable()
	case "mfenced":
		return n.mfenced()
	}
	if len(n.children) == 0 {
		return part{text: n.token()}
	}
	return n.row()
}

// token returns the text of a token element, which may have elements around its characters.
func (n *node) token() string {
	var text strings.Builder
	text.WriteString(n.text.String())
	for _, c := range n.children {
		text.WriteString(c.token())
	}
	return strings.Join(strings.Fields(text.String()), " ")
}

// invisible are the operators that are not drawn: function application, times, separator, plus.
const invisible = "\u2061\u2062\u2063\u2064"

func operator(text string) part {
	r, size := utf8.DecodeRuneInString(text)
	switch {
	case text == "" || strings.Contains(invisible, text):
		return part{}
	case size == len(text) && strings.ContainsRune("()[]{}⟨⟩⌊⌋⌈⌉,;!′'.:/^_", r):
		return part{text, fence}
	case size == len(text) && strings.ContainsRune("∑∏∐∫∬∭∮∯∰⋃⋂⋁⋀⨁⨂√∛∜∂∇|‖¬∀∃", r):
		return part{text: text}
	}
	return part{text, infix}
}

func (n *node) multiscripts() part {
	if len(n.children) == 0 {
		return part{}
	}
	var after, before strings.Builder
	into := &after
	for i := 1; i < len(n.children); {
		if n.children[i].name == "mprescripts" {
			into = &before
			i++
			continue
		}
		sub, sup := write(n.children[i]), part{}
		if i+1 < len(n.children) && n.children[i+1].name != "mprescripts" {
			i++
			sup = write(n.children[i])
		}
		into.WriteString(scripts(part{}, sub, sup).text)
		i++
	}
	text := group(write(n.children[0])) + after.String()
	if before.Len() > 0 {
		text = before.String() + " " + text
	}
	return part{text: text}
}

func (n *node) mtable() part {
	var rows [][]part
	for _, tr := range n.children {
		var row []part
		for _, td := range tr.children {
			row = append(row, write(td))
		}
		rows = append(rows, row)
	}
	return table(rows)
}

func (n *node) mfenced() part {
	attr := func(name, missing string) string {
		if value, ok := n.attrs[name]; ok {
			return strings.TrimSpace(value)
		}
		return missing
	}
	separators := []rune(strings.Join(strings.Fields(attr("separators", ",")), ""))
	var b strings.Builder
	for i, c := range n.children {
		if i > 0 && len(separators) > 0 {
			b.WriteString(string(separators[min(i, len(separators))-1]) + " ")
		}
		b.WriteString(strings.TrimSpace(write(c).text))
	}
	return fenced(attr("open", "("), attr("close", ")"), b.String())
}
