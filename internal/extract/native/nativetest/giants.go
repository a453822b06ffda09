package nativetest

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// giantBytes is the size of a giant.
const giantBytes = 18 << 20

// Giant is a document that is one huge piece of something. A cancellation must also stop the work within the
// piece.
type Giant struct {
	Name  string
	Write func(w io.Writer) error
}

// Giants returns documents of 18 MB, which are within the limits.
func Giants() []Giant {
	text := func(name, before, unit, after string) Giant {
		return Giant{name, func(w io.Writer) error {
			piece := []byte(strings.Repeat(unit, max(1, 64<<10/len(unit))))
			if _, err := io.WriteString(w, before); err != nil {
				return err
			}
			for written := 0; written < giantBytes; written += len(piece) {
				if _, err := w.Write(piece); err != nil {
					return err
				}
			}
			_, err := io.WriteString(w, after)
			return err
		}}
	}
	const words = "harbour crane tide quay "
	all := []Giant{
		text("one text.html", "<!doctype html><h1>a</h1><p>", words, "</p>"),
		text("one word.html", "<!doctype html><h1>a</h1><p>", "a", "</p>"),
		text("one pre element.html", "<!doctype html><h1>a</h1><pre>", words+"\n", "</pre>"),
		text("one attribute.html", `<!doctype html><h1>a</h1><img alt="`, words, `">`),
		text("one comment.html", `<!doctype html><h1>a</h1><!--`, words, `--><p>a`),
		text("one script.html", `<!doctype html><h1>a</h1><script>`, words, `</script>a`),
		text("one cell.html", "<!doctype html><h1>a</h1><table><tr><th>a</th><td>", words, "</td></table>"),
		text("one row.html", "<!doctype html><h1>a</h1><table><tr><th>a</th>", "<td>"+strings.Repeat(words, 5),
			"</tr></table>"),
		text("one table.html", "<!doctype html><h1>a</h1><table>", "<tr><td>"+strings.Repeat(words, 5)+"<td>b",
			"</table>"),
		text("one list.html", "<!doctype html><h1>a</h1><ul>", "<li>"+strings.Repeat(words, 5), "</ul>"),
		text("elements without text.html", "<!doctype html><h1>a</h1>",
			`<span class="`+strings.Repeat(words, 10)+`"></span>`, ""),
		text("one paragraph.md", "# a\n\n", words, ""),
		text("one paragraph of many lines.md", "# a\n\n", words+"\n", ""),
		text("one code block.md", "# a\n\n```\n", words+"\n", "```\n"),
		text("open links.md", "# a\n\n", "[a](", ""),
		text("emphasis.md", "# a\n\n", "*a_ ", ""),
		text("one line.txt", "a ", words, ""),
		text("one word.txt", "", "a", ""),
		text("dashes.txt", "", "-", ""),
		text("line ends.txt", "a", "\n ", ""),
		text("accents.txt", "", "e\u0301", ""),
		text("ideographs.txt", "", "港湾潮汐", ""),
		text("long cells.csv", "a,b\n", "\""+strings.Repeat(words, 20_000)+"\",b\n", ""),
		text("rows.csv", "a,b\n", words+","+words+"\n", ""),
		text("one paragraph.rtf", `{\rtf1 `, words, "}"),
		text("one cell.rtf", `{\rtf1 \trowd\cellx1\intbl `, words, `\cell\row}`),
		text("one body.eml", "From: a@example.org\nSubject: a\nMessage-ID: <a>\n\n", words, ""),
		text("one HTML body.eml", "From: a@example.org\nSubject: a\nMIME-Version: 1.0\nContent-Type: text/html\n\n<p>",
			words, ""),
	}
	for _, c := range containers() {
		open, closing := inElements(c.format)
		all = append(all, Giant{"one paragraph." + c.format, func(w io.Writer) error {
			var text bytes.Buffer
			text.WriteString(c.before + open[0])
			for i := 0; text.Len() < giantBytes; i++ {
				fmt.Fprintf(&text, "%s%s %d%s", open[1], strings.Repeat(words, 4000), i*7919, closing[1])
			}
			text.WriteString(closing[0] + c.after)
			return c.pack(w, []packedPart{stored(c.main, text.String())})
		}})
	}
	return all
}

// inElements returns the tags around one paragraph of a format, and around each piece of text in it.
func inElements(format string) (open, closing [2]string) {
	switch format {
	case "docx":
		return [2]string{"<w:p>", "<w:r><w:t>"}, [2]string{"</w:p>", "</w:t></w:r>"}
	case "pptx":
		return [2]string{"<p:sp><p:txBody><a:p>", "<a:r><a:t>"}, [2]string{"</a:p></p:txBody></p:sp>", "</a:t></a:r>"}
	case "xlsx":
		return [2]string{`<row r="9">`, `<c t="inlineStr"><is><t>`}, [2]string{"</row>", "</t></is></c>"}
	case "odt":
		return [2]string{"<text:p>", "<text:span>"}, [2]string{"</text:p>", "</text:span>"}
	}
	return [2]string{"<p>", "<i>"}, [2]string{"</p>", "</i>"}
}
