// Package symbol maps characters of the symbol fonts to Unicode.
package symbol

import (
	"strconv"
	"strings"
)

// greek is the font Symbol from 0x41 to 0x7A in Unicode (Adobe's Symbol encoding, as mapped by
// unicode.org/Public/MAPPINGS/VENDORS/ADOBE/symbol.txt).
const greek = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλµνοπθρστυϖωξψζ"

// characters returns a common character of Symbol or Wingdings by its code.
func characters(font string, code int) string {
	switch {
	case font == "symbol":
		switch code {
		case 0xA3:
			return "≤"
		case 0xB3:
			return "≥"
		case 0xB1:
			return "±"
		case 0xB4:
			return "×"
		case 0xB7:
			return "•"
		case 0xB9:
			return "≠"
		case 0xBB:
			return "≈"
		case 0xA5:
			return "∞"
		case 0xAE:
			return "→"
		case 0xAC:
			return "←"
		case 0xB0:
			return "°"
		case 0xE5:
			return "∑"
		case 0xD6:
			return "√"
		}
	case strings.HasPrefix(font, "wingdings"):
		switch code {
		case 0xFC, 0x50:
			return "✓"
		case 0xFB, 0x4F:
			return "✗"
		case 0xFE, 0x52:
			return "☑"
		case 0xA8, 0x6F, 0x71:
			return "☐"
		case 0xFD, 0x51, 0x54:
			return "☒"
		case 0xE0, 0xF0:
			return "→"
		case 0xDF:
			return "←"
		case 0x6C, 0x9F, 0xA7, 0x6E:
			return "•"
		case 0x4A:
			return "☺"
		}
	}
	if font == "wingdings" {
		return typed(code)
	}
	return ""
}

// typed returns a character of Wingdings that Office programs make of what is typed: of "==>" or ":(".
func typed(code int) string {
	switch code {
	case 0xE8:
		return "→"
	case 0xE7:
		return "←"
	case 0xF3:
		return "↔"
	case 0x4B:
		return "😐"
	case 0x4C:
		return "☹"
	}
	return ""
}

// Text returns the character of a font for a hexadecimal code, often in the private use area. A character
// without a meaning outside of its font is dropped.
func Text(font, char string) string {
	code, err := strconv.ParseUint(char, 16, 32)
	if err != nil || code == 0 {
		return ""
	}
	private := code >= 0xE000 && code <= 0xF8FF
	low := int(code & 0xFF)
	if Font(font) {
		font = strings.ToLower(font)
		if font == "symbol" && low >= 0x41 && low <= 0x7A {
			return string([]rune(greek)[low-0x41])
		}
		return characters(font, low)
	}
	if private || code > 0x10FFFF {
		return ""
	}
	return string(rune(code))
}

// Font reports whether a font has symbols in the places of letters.
func Font(font string) bool {
	font = strings.ToLower(font)
	return font == "symbol" || strings.HasPrefix(font, "wingdings") || strings.HasPrefix(font, "webdings")
}

// Run returns a text that is shown in a symbol font. Blanks, and digits and punctuation of Symbol, are as in ASCII.
func Run(font, text string) string { return replaced(font, text, 0) }

// Private returns a text of which only the characters of the private use area that symbol fonts have, from U+F000 to
// U+F0FF, are shown in one.
func Private(font, text string) string { return replaced(font, text, privateFirst) }

const privateFirst, privateLast = 0xF000, 0xF0FF

// replaced replaces the characters from first on.
func replaced(font, text string, first rune) string {
	var b strings.Builder
	for _, r := range text {
		code := r
		if r >= privateFirst && r <= privateLast {
			code -= privateFirst
		}
		switch {
		case r < first || code > 0xFF:
			b.WriteRune(r)
		case code <= ' ' || code < 'A' && strings.EqualFold(font, "symbol"):
			b.WriteRune(code)
		default:
			b.WriteString(Text(font, strconv.FormatInt(int64(code), 16)))
		}
	}
	return b.String()
}
