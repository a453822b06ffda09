package extract

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of links: a document that has more of them loses the rest, never its text.
const (
	maxTextLinks = 1000    // of one text
	maxLinks     = 100_000 // of a document
	maxTarget    = 2 << 10 // bytes
)

// Link is a part of a text that leads to another document or place. It is not part of the text, so it is neither
// searched nor embedded.
type Link struct {
	Start  int    `json:"start"` // byte offsets into the text, at boundaries of characters
	End    int    `json:"end"`
	Target string `json:"target"` // an address of http, https or mailto, or "#" and a place in the document
}

// Target returns the address of a link in the form in which it is kept, or "" for one that is not kept: of any scheme
// but http, https and mailto, without a host, or of more than 2 KiB. Names and passwords of users are removed.
func Target(address string) string {
	if len(address) > maxTarget || !utf8.ValidString(address) {
		return ""
	}
	address = strings.Map(func(r rune) rune { // as browsers do (WHATWG URL, 4.4)
		if r < ' ' || r == 0x7F {
			return -1
		}
		return r
	}, strings.TrimSpace(address))
	if place, ok := strings.CutPrefix(address, "#"); ok {
		if place == "" || strings.IndexFunc(place, unicode.IsControl) >= 0 {
			return ""
		}
		return address
	}
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		if u.Host == "" || u.Opaque != "" {
			return ""
		}
		if u.User == nil {
			return address
		}
		u.User = nil
		return u.String()
	case "mailto":
		if u.Opaque != "" {
			return address
		}
	}
	return ""
}

// Linker collects the links of a text while it is written. Links don't nest: one within another ends that.
type Linker struct {
	links  []Link
	target string
	start  int
}

// Begin begins a link to an address at a byte offset of the text. An address that is not kept begins none.
func (l *Linker) Begin(address string, at int) {
	l.End(at)
	l.target, l.start = Target(address), at
}

// End ends the link, if there is one.
func (l *Linker) End(at int) {
	if l.target != "" && l.start < at {
		n := len(l.links)
		switch {
		case n > 0 && l.links[n-1].End == l.start && l.links[n-1].Target == l.target: // of two runs of text
			l.links[n-1].End = at
		case n < maxTextLinks:
			l.links = append(l.links, Link{l.start, at, l.target})
		}
	}
	l.target = ""
}

// Within returns the address of the open link, or "".
func (l *Linker) Within() string { return l.target }

// Take ends the text and returns its links. An open link continues at the start of the next text.
func (l *Linker) Take(length int) []Link {
	target := l.target
	l.End(length)
	links := l.links
	l.links, l.target, l.start = nil, target, 0
	return links
}

// Trim returns a text without the white space around it, and its links.
func Trim(text string, links []Link) (string, []Link) {
	trimmed := strings.TrimLeftFunc(text, unicode.IsSpace)
	links = Shift(links, len(trimmed)-len(text))
	return strings.TrimRightFunc(trimmed, unicode.IsSpace), links
}

// Shift returns links moved by a number of bytes, for text that was put before theirs or cut from it.
func Shift(links []Link, by int) []Link {
	if by == 0 || len(links) == 0 {
		return links
	}
	moved := make([]Link, len(links))
	for i, l := range links {
		moved[i] = Link{l.Start + by, l.End + by, l.Target}
	}
	return moved
}

// CutLinks returns the links of a part of a text, from a byte offset to another.
func CutLinks(links []Link, start, end int) []Link {
	var inside []Link
	for _, l := range links {
		if l.Start < end && l.End > start {
			inside = append(inside, Link{max(l.Start, start) - start, min(l.End, end) - start, l.Target})
		}
	}
	return inside
}

// fitLinks returns the links of a text for its clean form: in order, apart, of at least one visible character, at
// boundaries of characters.
func fitLinks(text, clean string, links []Link, fitted func(string) string) []Link {
	if len(links) == 0 {
		return nil
	}
	var kept []Link
	raw, at := 0, 0 // an offset of text, and the same place in its clean form before it is trimmed
	place := func(offset int) int {
		offset = min(max(offset, raw), len(text))
		at += len(fitted(text[raw:offset]))
		raw = offset
		return at
	}
	lead := 0
	if clean != text {
		all := fitted(text)
		lead = len(all) - len(strings.TrimLeftFunc(all, unicode.IsSpace))
	} else {
		fitted = func(s string) string { return s }
	}
	for _, l := range links {
		if l.Start < raw || l.Start >= l.End {
			continue
		}
		start := max(place(l.Start)-lead, 0)
		end := min(place(l.End)-lead, len(clean))
		for start < end && clean[start] <= ' ' {
			start++
		}
		for end > start && clean[end-1] <= ' ' {
			end--
		}
		if start < end && boundary(clean, start) && boundary(clean, end) {
			kept = append(kept, Link{start, end, l.Target})
		}
	}
	return kept
}

func boundary(text string, at int) bool { return at == len(text) || utf8.RuneStart(text[at]) }
