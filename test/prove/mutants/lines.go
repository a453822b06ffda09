package mutants

import (
	"bytes"
	"slices"
)

// line changes a text by its lines, and by the words of its format.
func (m *mutator) line(content, other []byte) []byte {
	all := bytes.SplitAfter(content, []byte("\n"))
	at := m.IntN(len(all))
	from, to := m.span(len(all))
	switch m.IntN(10) {
	case 0:
		all = slices.Delete(all, from, to)
	case 1:
		part := bytes.Join(all[from:to], nil)
		all = slices.Insert(all, at, repeat(part, m.times(len(part))))
	case 2:
		all[at], all[from] = all[from], all[at]
	case 3:
		foreign := bytes.SplitAfter(other, []byte("\n"))
		a, b := m.span(len(foreign))
		all = slices.Insert(all, at, foreign[a:b]...)
	case 4: // one line of many
		all[at] = bytes.ReplaceAll(bytes.Join(all[from:to], nil), []byte("\n"), []byte(" "))
	case 5:
		all[at] = append([]byte(m.repeatedWord()), all[at]...)
	case 6, 7:
		place := m.IntN(len(all[at]) + 1)
		all[at] = slices.Insert(slices.Clone(all[at]), place, []byte(m.repeatedWord())...)
	case 8:
		if m.IntN(6) == 0 {
			return utf16le(content)
		}
		return bytes.ReplaceAll(content, []byte("\n"),
			[][]byte{[]byte("\r\n"), []byte("\r"), {}, []byte("\n\n")}[m.IntN(4)])
	case 9:
		return m.byte(content, other)
	}
	return bytes.Join(all, nil)
}

func (m *mutator) repeatedWord() string {
	word := m.value()
	return repeated(word, m.times(len(word)))
}

// words are meaningful in a format.
var words = map[string][]string{
	"markdown": {
		"#", "# ", "> ", "- ", "* ", "1. ", "    ", "\t", "```\n", "~~~", "`", "``", "[", "]", "](", "![", "[^1]",
		"[^1]: ", "*", "_", "**", "~~", "|", "| - |\n", "---\n", "===\n",
		"<div>", "</div>", "<table><tr><td>", "<!--", "-->", "<script>", "<a ", "&lt;", "&#35;", "\\", "[a]: b\n", ": ",
		"- [ ] ", "<http://a>", "+++\n", "\n\n",
	},
	"csv": {`"`, `""`, ",", ";", "\t", "|", "\n", "\r", `",`, `,"`, "\"\n\"", "=1+1", "\x00"},
	"text": {
		"\f", "\n\n", "=====\n", "-----\n", "\x00", "\ufeff", "\u2028", "\u00ad", "\u200b", "- ", "1. ", "\x1b[0m",
		"\v",
	},
	"eml": {
		"Content-Type: multipart/mixed; boundary=b\n", "--b\n", "--b--\n", "\n\n", "Content-Type: message/rfc822\n",
		"Content-Transfer-Encoding: base64\n",
		"Content-Transfer-Encoding: quoted-printable\n", "Content-Type: text/html; charset=utf-16\n",
		"Content-Type: application/octet-stream; name=\"a.zip\"\n",
		"=?utf-8?B?w6Q=?= ", "=?utf-8?Q?=", "=?x-unknown?q?a?=", " ", "\t", "=\n", "=FF", "begin 644 a\n",
		"Content-Disposition: attachment; filename*=utf-8''%41\n", "Subject: ", "From: ", ";", "\"", "<", "(", "\r\n",
	},
	"mbox": {
		"From a@example.com Tue Mar  3 10:00:00 2026\n", "\n\n", ">From ", "From ", "\r\n", "Subject: ", "--b\n",
		"Content-Type: message/rfc822\n", "Content-Type: application/octet-stream; name=\"a.mbox\"\n",
	},
	"rtf": {
		"{", "}", "{\\*", "\\", "\\par ", "\\trowd ", "\\cellx100", "\\intbl ", "\\cell ", "\\row ", "\\nestcell ",
		"\\nestrow ", "\\itap2 ", "\\bin99999999 ", "\\bin4 abcd", "\\u-10187?", "\\u56320?",
		"\\'ff", "\\'", "\\uc9999 ", "\\fonttbl", "\\f9 ", "\\fcharset128 ", "\\ls1 ", "\\ilvl9 ",
		"{\\field{\\*\\fldinst HYPERLINK}", "{\\fldrslt ", "\\pict ", "{\\footnote ", "\\cs1 ", "\\s1 ",
		"\\outlinelevel0 ", "\\clmgf", "\\clmrg", "\\clvmgf", "\\clvmrg", "\\v ", "\\pard ", "\\page ", "\\object ",
		"{\\info{\\title ", "\\~", "\\-", "\\_", "\\upr",
	},
	"pdf": {
		"obj", "endobj", "stream\n", "endstream", "xref", "trailer", "startxref", "<<", ">>", "[", "]", "/Kids",
		"/Parent", "/Count", "/Length", "/Filter", "/FlateDecode", "/Root", "/Pages", "/Encrypt",
		"/Contents", "/Font", "1 0 R", "0 0 R", "4294967296 0 R", "BT", "ET", "Tj", "(", ")", "/Type/Page", "/MediaBox",
		"%PDF-1.7", "%%EOF", "/ObjStm", "/XRef", "/Outlines", "/Next",
	},
}
