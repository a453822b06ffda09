package privacy

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

// email matches an address as written in texts (RFC 5321, 4.1.2, without quotes; RFC 6531 for other alphabets).
var email = pattern.New(`[\p{L}\p{N}.!#$%&'*+/=?^_{|}~-]+@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?\.)+(?:xn--[a-z0-9-]+|\p{L}{2,})`)

// maxEmail is the longest address (RFC 5321, 4.5.3.1.3), in bytes.
const maxEmail = 254

// fileEndings follow a dot like top-level domains: icon@2x.png is not an address.
var fileEndings = map[string]bool{
	".png": true, ".jpg": true, ".jpeg": true, ".gif": true, ".svg": true, ".webp": true, ".ico": true, ".css": true,
	".js": true, ".ts": true,
	".json": true, ".xml": true, ".html": true, ".htm": true, ".pdf": true, ".txt": true, ".csv": true,
}

// version is a version or scale after the sign: @3.7.1, @2x.
var version = pattern.New(`(?i)@v?[0-9]{1,2}x?\.`)

func emails(text string) (found [][2]int) {
	for _, m := range email.FindAllStringIndex(text, -1) {
		// A leading quotation or list mark is not part of the address.
		start, end := m[0], m[1]
		for start < end && strings.ContainsRune(".'*/=?^{|}~&#$%!", rune(text[start])) {
			start++
		}
		// A file may be named after an address: ada@example.org.pdf; but jquery@3.7.1.min.js and plan@v2.final.zip are none.
		ending := strings.ToLower(path.Ext(text[start:end]))
		if (fileEndings[ending] || ending == ".zip" || ending == ".py") && version.MatchString(text[start:end]) {
			continue
		}
		if fileEndings[ending] {
			end -= len(ending)
		}
		address := text[start:end]
		if strings.HasPrefix(address, "@") || len(address) > maxEmail || !whole(address) {
			continue
		}
		found = append(found, [2]int{start, end})
	}
	return found
}

// whole reports whether all of a text is an address.
func whole(address string) bool {
	m := email.FindStringIndex(address)
	return m != nil && m[0] == 0 && m[1] == len(address)
}

func isAlphanumeric(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= utf8.RuneSelf &&
		(unicode.IsLetter(r) || unicode.IsDigit(r))
}
