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
	return ""
}

// Text returns the character of a font for a hexadecimal code, often in the private use area. A character
// without a meaning outside of its font is dropped.
func Text(font, char string) string {
	code, err := strconv.ParseUint(char, 16, 32)
	if err != nil || code == 0 {
		return ""
	}
	font = strings.ToLower(font)
	private := code >= 0xE000 && code <= 0xF8FF
	low := int(code & 0xFF)
	if font == "symbol" || strings.HasPrefix(font, "wingdings") || strings.HasPrefix(font, "webdings") {
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
