package mutants

import (
	"bytes"
	"slices"
	"strings"
)

// byte changes content without regard to its meaning, but for numbers and words of the format.
func (m *mutator) byte(content, other []byte) []byte {
	if len(content) == 0 {
		return []byte(m.value())
	}
	at := m.IntN(len(content))
	from, to := m.span(len(content))
	switch m.IntN(12) {
	case 0:
		content[at] ^= 1 << m.IntN(8)
	case 1:
		for range 1 + m.IntN(16) {
			content[m.IntN(len(content))] = byte(m.Uint32())
		}
	case 2:
		content[at] = [...]byte{0, 0xFF, 0x80, '<', '"', '\\', '{', '\n', 0xC3, 0xED}[m.IntN(10)]
	case 3:
		return content[:at] // cut off
	case 4:
		return slices.Delete(content, from, to)
	case 5:
		return insert(content, at, repeat(content[from:to], m.times(to-from)))
	case 6:
		if len(other) > 0 {
			a, b := m.span(len(other))
			return insert(content, at, other[a:b])
		}
	case 7:
		return insert(content, at, []byte(m.value()))
	case 8, 9:
		return m.number(content)
	case 10:
		return m.bigEndian(content, at)
	case 11:
		if len(other) > 0 { // the start of one, the end of another
			return append(content[:at], other[m.IntN(len(other)):]...)
		}
	}
	return content
}

// number replaces a number written in digits by an odd value.
func (m *mutator) number(content []byte) []byte {
	const reach = 4096
	at := m.IntN(len(content))
	end := min(len(content), at+reach)
	first := bytes.IndexAny(content[at:end], "0123456789")
	if first < 0 {
		return content
	}
	first += at
	last := first
	for last < len(content) && content[last] >= '0' && content[last] <= '9' {
		last++
	}
	return slices.Replace(content, first, last, []byte(odd[m.IntN(len(odd))])...)
}

// bigEndian writes an extreme length or offset.
func (m *mutator) bigEndian(content []byte, at int) []byte {
	extreme := [...][]byte{
		{0xFF, 0xFF, 0xFF, 0xFF},
		{0, 0, 0, 0},
		{0x7F, 0xFF, 0xFF, 0xFF},
		{0x80, 0, 0, 0},
		{0xFF, 0xFF},
		{0, 0, 0, 1},
		{1, 0, 0, 0},
	}
	copy(content[at:], extreme[m.IntN(len(extreme))])
	return content
}

func insert(content []byte, at int, what []byte) []byte {
	return slices.Insert(content, at, slices.Clone(what)...)
}

func repeat(what []byte, times int) []byte { return bytes.Repeat(what, times) }

func repeated(what string, times int) string { return strings.Repeat(what, times) }
