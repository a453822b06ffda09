package mutants

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"
)

var (
	attribute  = regexp.MustCompile(`([\w:.-]+)=("[^"]*"|'[^']*')`)
	element    = regexp.MustCompile(`^<([\w:.-]+)`)
	namesInTag = regexp.MustCompile(`^</?([\w:.-]+)`)
)

// depths are how deep elements are nested; the largest is the acceptance criterion.
var depths = []int{3, 20, 60, 130, 260, 520, 1100, 5000, 100_000}

// tag changes XML or HTML by its tags, attributes and texts.
func (m *mutator) tag(content, other []byte) []byte {
	all := pieces(content)
	if len(all) == 0 {
		return m.byte(content, other)
	}
	at := m.IntN(len(all))
	from, to := m.span(len(all))
	switch m.IntN(16) {
	case 0:
		all = slices.Delete(all, from, to)
	case 1:
		part := bytes.Join(all[from:to], nil)
		all = slices.Insert(all, at, repeat(part, m.times(len(part))))
	case 2:
		all[at], all[from] = all[from], all[at]
	case 3:
		return m.nest(all, at)
	case 4, 5, 6:
		m.setAttribute(all, at)
	case 7:
		m.addAttributes(all, at)
	case 8:
		all = slices.Insert(all, at, []byte(m.value()))
	case 9:
		return m.entities(all, at)
	case 10:
		m.rename(all, at)
	case 11:
		if foreign := pieces(other); len(foreign) > 0 {
			a, b := m.span(len(foreign))
			all = slices.Insert(all, at, foreign[a:b]...)
		}
	case 12:
		strange := [...]string{
			"<!-- c -->", "<!--", "<![CDATA[ x ]]>", "<![CDATA[", "<?pi?>", "<!DOCTYPE x>", "]]>", "&#xD800;",
			"&#1114112;", "&nbsp;", "<a/><", "\x00", "\xff\xfe",
		}
		all = slices.Insert(all, at, []byte(strange[m.IntN(len(strange))]))
	case 13:
		return m.number(content)
	case 14:
		part := slices.Clone(all[from:to]) // moved
		all = slices.Delete(all, from, to)
		all = slices.Insert(all, m.IntN(len(all)+1), part...)
	case 15:
		if m.IntN(8) == 0 {
			return utf16le(content)
		}
		all = all[:at] // cut off between tags
	}
	return bytes.Join(all, nil)
}

// pieces are the tags of a content and the texts between them.
func pieces(content []byte) (all [][]byte) {
	for len(content) > 0 {
		end := bytes.IndexByte(content, '<')
		if end == 0 {
			if end = bytes.IndexByte(content, '>') + 1; end == 0 {
				end = len(content)
			}
		}
		if end < 0 {
			end = len(content)
		}
		all, content = append(all, content[:end:end]), content[end:]
	}
	return all
}

// nest puts an element into itself this many times.
func (m *mutator) nest(all [][]byte, at int) []byte {
	start := m.startTag(all, at)
	if start == nil {
		return bytes.Join(all, nil)
	}
	depth := depths[m.IntN(len(depths)-1)]
	if m.IntN(50) == 0 {
		depth = depths[len(depths)-1]
	}
	depth = min(depth, 1+(2<<20)/len(start))
	name := element.FindSubmatch(start)[1]
	var out bytes.Buffer
	for i, piece := range all {
		if i == at {
			out.Write(repeat(bytes.TrimSuffix(bytes.TrimSuffix(start, []byte(">")), []byte("/")), 1))
			out.WriteByte('>')
			for range depth {
				out.Write(start)
			}
			if m.IntN(3) > 0 {
				out.WriteString(strings.Repeat("</"+string(name)+">", depth+1))
			}
		}
		out.Write(piece)
	}
	return out.Bytes()
}

// startTag finds a start tag from an index on; nil if none is near.
func (m *mutator) startTag(all [][]byte, at int) []byte {
	for i := at; i < min(len(all), at+100); i++ {
		if element.Match(all[i]) && !bytes.HasSuffix(all[i], []byte("/>")) {
			return all[i]
		}
	}
	return nil
}

// setAttribute gives an attribute an odd value or that of another one, which makes references circular.
func (m *mutator) setAttribute(all [][]byte, at int) {
	for i := at; i < min(len(all), at+100); i++ {
		places := attribute.FindAllSubmatchIndex(all[i], -1)
		if len(places) == 0 {
			continue
		}
		p := places[m.IntN(len(places))]
		value := []byte(strings.ReplaceAll(m.value(), `"`, "&quot;"))
		if m.IntN(2) == 0 {
			if donor := attribute.FindAllSubmatch(all[m.IntN(len(all))], -1); len(donor) > 0 {
				value = bytes.Trim(donor[m.IntN(len(donor))][2], `"'`)
			}
		}
		all[i] = slices.Concat(all[i][:p[4]], []byte(`"`), value, []byte(`"`), all[i][p[5]:])
		return
	}
}

func (m *mutator) addAttributes(all [][]byte, at int) {
	for i := at; i < min(len(all), at+100); i++ {
		name := element.Find(all[i])
		if name == nil {
			continue
		}
		var more strings.Builder
		for n := m.times(16); n > 0; n-- {
			more.WriteString(` a` + odd[m.IntN(10)+1] + `="x"`)
		}
		if m.IntN(20) == 0 {
			more.WriteString(` style="` + strings.Repeat("x", 1+m.IntN(5<<20)) + `"`)
		}
		all[i] = slices.Concat(name, []byte(more.String()), all[i][len(name):])
		return
	}
}

// entities declares entities that would expand without end, and refers to one.
func (m *mutator) entities(all [][]byte, at int) []byte {
	const bomb = `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">` +
		`<!ENTITY lol "&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;"><!ENTITY file SYSTEM "file:///etc/passwd"><!ENTITY self "&self;">]>`
	first := 0
	if len(all) > 0 && bytes.HasPrefix(all[0], []byte("<?xml")) {
		first = 1
	}
	out := slices.Insert(slices.Clone(all), max(at, first), []byte([...]string{"&lol;", "&file;", "&self;"}[m.IntN(3)]))
	return bytes.Join(slices.Insert(out, first, []byte(bomb)), nil)
}

// rename gives a tag the name of another element.
func (m *mutator) rename(all [][]byte, at int) {
	donor := m.startTag(all, m.IntN(len(all)))
	place := namesInTag.FindSubmatchIndex(all[at])
	if donor == nil || place == nil {
		return
	}
	name := element.FindSubmatch(donor)[1]
	all[at] = slices.Concat(all[at][:place[2]], name, all[at][place[3]:])
}

func utf16le(content []byte) []byte {
	out := []byte{0xFF, 0xFE}
	for _, u := range utf16.Encode([]rune(string(content))) {
		out = append(out, byte(u), byte(u>>8))
	}
	return out
}
