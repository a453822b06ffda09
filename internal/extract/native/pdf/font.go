package pdf

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Weights of fonts, as CSS counts them.
const (
	thinWeight    = 100
	lightWeight   = 300
	regularWeight = 400
	mediumWeight  = 500
	boldWeight    = 700
)

// fontStyle returns the style that a font's full name implies, for example "ABCDEF+Frutiger-BlackItalic".
func fontStyle(family string, size float64) style {
	if _, name, ok := strings.Cut(family, "+"); ok {
		family = name
	}
	name := strings.ToLower(family)
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(name, part) })
	}
	begins := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.HasPrefix(name, part) })
	}
	s := style{
		size: size, face: faceOf(name), weight: weightOf(name),
		italic: has("italic", "oblique", "-it", "-obl", "slant") || slopes.MatchString(name) || begins("cmti", "sfti"),
		mono: has("courier", "mono", "consol", "menlo", "typewriter", "fixed", "inconsolata", "sourcecode",
			"lettergothic", "andale") || begins("cmtt", "sftt", "cmsltt", "cmitt", "ectt", "lmtt", "txtt", "pcrr",
			"nimbusmon", "monaco"),
		math: has("math", "symbol") || begins("cmmi", "cmsy", "cmex", "cmbsy", "msam", "msbm", "eufm", "stmary", "rsfs",
			"mt2", "lmmi", "lmsy", "lmex"),
	}
	if has("bold", "black", "heavy", "-bd", "-blk", "demi", "semibd") || strings.HasSuffix(name, "bd") ||
		strings.HasSuffix(name, ".b") || strings.HasSuffix(name, ".bi") ||
		begins("cmbx", "sfbx", "ecbx", "cmssbx", "sfsx", "ecsx", "ptmb", "phvb", "nimbusromno9l-medi") {
		s.weight = boldWeight
	}
	s.bold = s.weight > mediumWeight
	return s
}

// slopes matches the end of an italic font's name in lower case, as those of URW ("nimbusromno9l-reguital") and of
// journals ("advot1ef757c0.bi") have it.
var slopes = regexp.MustCompile(`-[a-z]*ital$|\.b?i$`)

// hundreds matches a weight in a Japanese font's name: "hirakakupron-w6".
var hundreds = regexp.MustCompile(`-w([1-9])(-|$)`)

// weightOf returns the weight that a font's name in lower case states, or that of regular text.
func weightOf(name string) int {
	if m := hundreds.FindStringSubmatch(name); m != nil {
		n, _ := strconv.Atoi(m[1])
		return 100 * n
	}
	switch {
	case strings.Contains(name, "thin"), strings.Contains(name, "hairline"):
		return thinWeight
	case strings.Contains(name, "light"), strings.HasSuffix(name, "-lt"):
		return lightWeight
	case strings.Contains(name, "medium"), strings.HasSuffix(name, "-md"):
		return mediumWeight
	}
	return regularWeight
}

// ofStyle matches the end of a family's name that is about style, size and maker.
var ofStyle = regexp.MustCompile(`(thin|hairline|extra|ultra|light|regular|roman|book|medium|semi|demi|bold|heavy|black|` +
	`italic|oblique|ps|mt|lt|std|pro|[\d_. ])+$`)

// faceOf returns the family of a font by its name in lower case, without weight, slope and size. A name with digits
// further in is a code ("advps6f00", "advps6f01"): nothing of it can be told to be about style.
func faceOf(name string) string {
	if end := strings.IndexAny(name, "-,"); end > 0 {
		name = name[:end]
	}
	if face := ofStyle.ReplaceAllString(name, ""); face != "" && !strings.ContainsAny(face, "0123456789") {
		return face
	}
	return name
}

// embolden makes the words of a page bold that are clearly heavier than the text of a document in a light font.
func (s *stats) embolden(p *page) {
	if body, _ := most(s.weights); body == 0 || body > lightWeight {
		return
	}
	for i := range p.words {
		if w := &p.words[i]; w.weight >= mediumWeight {
			w.bold = true
		}
	}
}
