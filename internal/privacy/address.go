package privacy

import (
	"net/netip"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

var (
	ipv4 = pattern.New(`[0-9]{1,3}(?:\.[0-9]{1,3}){3}`)
	ipv6 = pattern.New(`[0-9A-Fa-f]*(?::{1,2}[0-9A-Fa-f]+){2,8}(?:(?:\.[0-9]{1,3}){3})?(?:::)?`)
	// numbering matches text before a number that looks like an address but is a version's or a section's.
	numbering = pattern.New(`(?i)(?:\bv|\bver\.?|version|release|rev\.?|revision|build|firmware|section|chapter|§|kapitel|abschnitt|clause|paragraph|heading|header|article|artikel|figure|table|annex|appendix|item|oid)[ :.]{0,2}$`)
)

func addresses(text string) (found [][2]int) {
	for _, m := range ipv4.FindAllStringIndex(text, -1) {
		if isIPv4(text, m[0], m[1]) {
			found = append(found, [2]int{m[0], m[1]})
		}
	}
	for _, m := range ipv6.FindAllStringIndex(text, -1) {
		if isIPv6(text, m[0], m[1]) {
			found = append(found, [2]int{m[0], m[1]})
		}
	}
	return found
}

func isIPv4(text string, start, end int) bool {
	ip, err := netip.ParseAddr(text[start:end])
	if err != nil || !personal(ip) {
		return false
	}
	before, after := text[max(start-16, 0):start], text[end:]
	if strings.HasSuffix(before, ".") || continuesPath(after) || numbering.MatchString(before) {
		return false
	}
	if r := reversed(before); len(r) > 0 && (isAlphanumeric(r[0]) || r[0] == '-' || r[0] == '_') {
		return false
	}
	// A section number is at the start of a line, before the section's name.
	name, spaced := strings.CutPrefix(after, " ")
	first, _ := utf8.DecodeRuneInString(name)
	return !(atLineStart(before) && small(ip) && spaced && unicode.IsLetter(first))
}

// continuesPath reports whether a dotted number continues with a fifth part or a word.
func continuesPath(after string) bool {
	next := []rune(after[:min(len(after), 8)])
	if len(next) == 0 {
		return false
	}
	return isAlphanumeric(next[0]) || next[0] == '.' && len(next) > 1 && isAlphanumeric(next[1])
}

func atLineStart(before string) bool {
	line := before[strings.LastIndexByte(before, '\n')+1:]
	return strings.TrimSpace(line) == "" && (len(line) < len(before) || len(before) < 16)
}

// small reports whether all parts of an address could be section numbers.
func small(ip netip.Addr) bool {
	for _, part := range ip.As4() {
		if part > 30 {
			return false
		}
	}
	return true
}

// personal reports whether an address may be that of one machine in a network.
func personal(ip netip.Addr) bool {
	return !ip.IsUnspecified() && !ip.IsLoopback() && !ip.IsMulticast() &&
		ip != netip.AddrFrom4([4]byte{255, 255, 255, 255}) &&
		!(ip.Is4() && ip.As4()[0] == 255) // a mask
}

// isIPv6 requires three groups and a digit: a::b is a name in some programming languages.
func isIPv6(text string, start, end int) bool {
	written := text[start:end]
	ip, err := netip.ParseAddr(written)
	if err != nil || !personal(ip) || !strings.ContainsAny(written, "0123456789") || !apart(text, start, end) {
		return false
	}
	groups := strings.FieldsFunc(written, func(r rune) bool { return r == ':' })
	return len(groups) >= 3 || len(groups) == 2 && (len(groups[0]) == 4 || len(groups[1]) == 4)
}
