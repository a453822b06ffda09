package flow

import "strings"

// Hyperlink returns the address in the instruction of a field (ECMA-376 part 1, 17.16.5.25): HYPERLINK "address", with
// \l and a place within it, or in this document. It returns "" for other fields.
func Hyperlink(instruction string) string {
	words := fieldWords(instruction)
	if len(words) == 0 || !strings.EqualFold(words[0], "HYPERLINK") {
		return ""
	}
	address, place := "", ""
	for i := 1; i < len(words); i++ {
		switch words[i] {
		case `\l`:
			if i++; i < len(words) {
				place = "#" + words[i]
			}
		case `\o`, `\t`: // a tip, a frame
			i++
		case `\m`, `\n`, `\h`:
		default:
			if address == "" {
				address = words[i]
			}
		}
	}
	if strings.Contains(address, "#") {
		return address
	}
	return address + place
}

// fieldWords splits an instruction at spaces outside of quotes. A backslash within quotes escapes a backslash or a
// quote.
func fieldWords(instruction string) []string {
	var words []string
	var word strings.Builder
	quoted, begun := false, false
	end := func() {
		if begun {
			words = append(words, word.String())
		}
		word.Reset()
		begun = false
	}
	for i := 0; i < len(instruction); i++ {
		switch c := instruction[i]; {
		case c == '"':
			quoted, begun = !quoted, true
		case quoted && c == '\\' && i+1 < len(instruction) && (instruction[i+1] == '\\' || instruction[i+1] == '"'):
			i++
			word.WriteByte(instruction[i])
		case !quoted && (c == ' ' || c == '\t' || c == '\n' || c == '\r'):
			end()
		default:
			word.WriteByte(c)
			begun = true
		}
	}
	end()
	return words
}
