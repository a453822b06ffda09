package mutants

import (
	"hash/fnv"
	"math/rand/v2"
)

// sizeMax is in bytes: a mutant doesn't grow beyond it. The bombs of test/bench measure large files.
const sizeMax = 6 << 20

// Mutant makes the n-th mutant of a format. The same seeds, seed and n make the same one. seeds are those of the
// format; the name is that of the changed file. Negative n are the seeds themselves: -1 is the first one.
func Mutant(format string, seeds []Seed, seed uint64, n int) (name string, content []byte) {
	if n < 0 {
		return seeds[-n-1].Name, seeds[-n-1].Content
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(format)) // never fails
	r := rand.New(rand.NewPCG(seed, h.Sum64()+uint64(n)))
	base, other := seeds[r.IntN(len(seeds))], seeds[r.IntN(len(seeds))]
	m := mutator{Rand: r, words: words[format]}
	switch {
	case len(base.entries) > 0 && r.IntN(12) > 0:
		return base.Name, m.archive(base, other)
	case len(base.entries) == 0 && markup[format]:
		return base.Name, m.several(base.Content, other.Content, m.tag)
	case len(base.entries) == 0 && lines[format]:
		return base.Name, m.several(base.Content, other.Content, m.line)
	}
	return base.Name, m.several(base.Content, other.Content, m.byte)
}

var (
	markup = map[string]bool{"html": true, "xml": true}
	lines  = map[string]bool{"markdown": true, "csv": true, "text": true, "eml": true, "mbox": true, "rtf": true}
)

// mutator changes contents by its random numbers.
type mutator struct {
	*rand.Rand
	words []string // meaningful in the format
}

// several makes some changes, mostly by change, else in bytes. other is a content to splice from.
func (m *mutator) several(content, other []byte, change func(content, other []byte) []byte) []byte {
	out := append([]byte(nil), content...)
	for changes := 1 + m.IntN(3)*m.IntN(4); changes > 0; changes-- {
		step := change
		if m.IntN(6) == 0 {
			step = m.byte
		}
		if out = step(out, other); len(out) > sizeMax {
			out = out[:sizeMax]
		}
	}
	return out
}

// span chooses a part of n things, mostly a short one: [from, to).
func (m *mutator) span(n int) (from, to int) {
	if n == 0 {
		return 0, 0
	}
	from = m.IntN(n)
	length := 1 + m.IntN(4)
	switch m.IntN(6) {
	case 0:
		length = 1 + m.IntN(n)
	case 1, 2:
		length = 1 + m.IntN(64)
	}
	return from, min(n, from+length)
}

// times is how often something is repeated, mostly a few times; size is its length in bytes.
func (m *mutator) times(size int) int {
	n := 1 + m.IntN(4)
	switch m.IntN(60) {
	case 0:
		n = 1 + m.IntN(100_000)
	case 1, 2, 3:
		n = 1 + m.IntN(2000)
	}
	return min(n, 1+(256<<10)/max(size, 1))
}

// odd are values that break readers.
var odd = []string{
	"", "0", "-1", "1", "2", "7", "255", "256", "1000", "32768", "65535", "65536", "99999999", "2147483647",
	"2147483648", "-2147483648",
	"4294967295", "4294967296", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
	"18446744073709551615",
	"1e308", "1e-308", "-1e400", "NaN", "Inf", "0x7fffffff", "1.7976931348623157e309", "999999999999999999999999999999",
	"0.0000001",
	" ", "\t", "true", "false", "none", "/", "../../../etc/passwd", "#", "%00", "&#0;", "&amp;", "&lol;", "\u202e",
	"\u00a0", "é", "漢", "\U0001F600",
	"A1:XFD1048576", "XFD1048576", "ZZZZZZ99999999", "$A$1:$A$0", "100%", "1cm", "1in", "-0", "+", "1,2,3", "PT1H",
	"2020-02-30T25:61:61Z",
}

// value is an odd value, a word of the format or a long text.
func (m *mutator) value() string {
	switch {
	case m.IntN(100) == 0:
		return repeated([]string{"A", "é", " ", "\n ", "-", "0", "a b "}[m.IntN(7)], 1+m.IntN(200_000))
	case len(m.words) > 0 && m.IntN(3) == 0:
		return m.words[m.IntN(len(m.words))]
	}
	return odd[m.IntN(len(odd))]
}
