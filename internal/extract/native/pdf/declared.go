package pdf

import (
	"context"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf/object"
)

// A process of pdfinfo costs a sixth of what a page of text does. What it prints is in the file's own objects. They are
// read here when they can mean only one thing; otherwise pdfinfo is asked.

// declared returns what pdfinfo would print of the document, or nil if pdfinfo has to be asked: the file is damaged or
// encrypted, or has a value in a form that is rare.
func (d *drawings) declared(ctx context.Context) (found pdfInfo) {
	defer d.recovered(func() { found = nil })
	if !d.opened(ctx) || !d.file.Sound() {
		return nil
	}
	count, ok := d.declaredPages()
	if !ok {
		return nil
	}
	found = pdfInfo{"Pages": strconv.Itoa(count)}
	about := d.file.Info()
	for key, value := range map[string]func(object.String) (string, bool){
		"Title": textString, "Subject": textString, "Keywords": textString, "Author": textString, "Creator": textString,
		"Producer": textString, "CreationDate": isoDate, "ModDate": isoDate,
	} {
		s, ok := d.file.Resolve(about[object.Name(key)]).(object.String)
		if !ok {
			continue
		}
		text, ok := value(s)
		if !ok {
			return nil
		}
		found[key] = normalizeText(text)
	}
	return found
}

// declaredPages returns the number of pages of the tree, unless it may be another one for poppler.
func (d *drawings) declaredPages() (count int, ok bool) {
	pages := d.file.Dict(d.file.Root()["Pages"])
	n, ok := d.file.Number(pages["Count"])
	if !ok || n != math.Trunc(n) || n < 1 || n >= float64(d.file.Objects()) || d.file.Array(pages["Kids"]) == nil {
		return 0, false
	}
	if first := d.file.Linearized(); first != nil {
		if m, ok := d.file.Number(first["N"]); !ok || m != n {
			return 0, false
		}
	}
	return int(n), true
}

// maxDeclared limits the bytes of a string that is read without pdfinfo.
const maxDeclared = 4 << 10

// textString decodes a text string (ISO 32000-1, 7.9.2.2). Those with control characters are left to pdfinfo.
func textString(s object.String) (string, bool) {
	if len(s) > maxDeclared {
		return "", false
	}
	if units, ok := strings.CutPrefix(string(s), "\xFE\xFF"); ok {
		return utf16String(units)
	}
	if strings.HasPrefix(string(s), "\xFF\xFE") || strings.HasPrefix(string(s), "\xEF\xBB\xBF") {
		return "", false
	}
	var b strings.Builder
	for i := range len(s) {
		r := docEncoding(s[i])
		if r == 0 {
			return "", false
		}
		b.WriteRune(r)
	}
	return b.String(), true
}

func utf16String(s string) (string, bool) {
	if len(s)%2 != 0 {
		return "", false
	}
	units := make([]uint16, 0, len(s)/2)
	for i := 0; i < len(s); i += 2 {
		units = append(units, uint16(s[i])<<8|uint16(s[i+1]))
	}
	text := string(utf16.Decode(units))
	return text, !strings.ContainsFunc(text, func(r rune) bool {
		return r < ' ' || r == '\uFFFD' || r&0xFFFE == 0xFFFE || r >= '\uFDD0' && r <= '\uFDEF'
	})
}

// docEncoding returns the character of a byte of PDFDocEncoding (ISO 32000-1, D.2), or 0 for a control character and
// for a byte without a meaning.
func docEncoding(c byte) rune {
	const from80 = "•†‡…—–ƒ⁄‹›−‰„“”‘’‚™ﬁﬂŁŒŠŸŽıłœšž"
	switch {
	case c < ' ' || c == 0x7F || c == 0x9F || c == 0xAD:
		return 0
	case c == 0xA0:
		return '€'
	case c >= 0x80 && c < 0x9F:
		return []rune(from80)[c-0x80]
	}
	return rune(c)
}

// fullDate matches a date with all its parts (7.9.4).
var fullDate = regexp.MustCompile(`^D:(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?:Z(?:'|00'00'?)?|([+-])(\d\d)'(\d\d)'?)?$`)

// firstYear is that of the earliest date which poppler reads as it is written. It takes an earlier one for a mistake of
// Distiller 3, which wrote 19100 for 2000.
const firstYear = "1930"

// isoDate returns a date as pdfinfo prints it with -isodates.
func isoDate(s object.String) (string, bool) {
	m := fullDate.FindStringSubmatch(string(s))
	if m == nil || m[1] < firstYear {
		return "", false
	}
	date := m[1] + "-" + m[2] + "-" + m[3] + "T" + m[4] + ":" + m[5] + ":" + m[6]
	sign, hours, minutes := m[7], m[8], m[9]
	switch {
	case sign == "" || hours == "00" && minutes == "00":
		return date + "Z", true
	case minutes == "00":
		return date + sign + hours, true
	}
	return date + sign + hours + ":" + minutes, true
}
