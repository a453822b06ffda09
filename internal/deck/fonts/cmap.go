package fonts

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// runes is the characters that a font may have: ranges of the first and the last one, in order. It says so without the
// font in memory; a glyph of its own may still be missing.
type runes [][2]rune

func (r runes) has(c rune) bool {
	i, _ := slices.BinarySearchFunc(r, c, func(span [2]rune, c rune) int { return cmp.Compare(span[1], c) })
	return i < len(r) && r[i][0] <= c
}

const maxRanges = 20_000

// coverage reads a font's cmap (OpenType, table cmap): its subtables of the formats 4 and 12.
func coverage(data []byte) runes {
	table := tableOf(data, "cmap")
	if len(table) < 4 {
		return nil
	}
	var out runes
	for i := range int(binary.BigEndian.Uint16(table[2:])) {
		at := 4 + 8*i
		if at+8 > len(table) {
			break
		}
		platform, encoding := binary.BigEndian.Uint16(table[at:]), binary.BigEndian.Uint16(table[at+2:])
		offset := binary.BigEndian.Uint32(table[at+4:])
		symbols := platform == 3 && encoding == 0
		if platform != 0 && platform != 3 || symbols || uint64(offset)+2 > uint64(len(table)) {
			continue
		}
		sub := table[offset:]
		switch binary.BigEndian.Uint16(sub) {
		case 4:
			out = append(out, segments(sub)...)
		case 12:
			out = append(out, groups(sub)...)
		}
		if len(out) > maxRanges {
			break
		}
	}
	return merged(out)
}

// segments are the ranges of a subtable of format 4.
func segments(sub []byte) (out runes) {
	if len(sub) < 14 {
		return nil
	}
	count := int(binary.BigEndian.Uint16(sub[6:])) / 2
	ends, starts := 14, 16+2*count
	if starts+2*count > len(sub) {
		return nil
	}
	for i := range count {
		end, start := rune(binary.BigEndian.Uint16(sub[ends+2*i:])), rune(binary.BigEndian.Uint16(sub[starts+2*i:]))
		if start <= end && start != 0xFFFF {
			out = append(out, [2]rune{start, end})
		}
	}
	return out
}

// groups are the ranges of a subtable of format 12.
func groups(sub []byte) (out runes) {
	if len(sub) < 16 {
		return nil
	}
	count := min(int(binary.BigEndian.Uint32(sub[12:])), (len(sub)-16)/12, maxRanges)
	for i := range count {
		at := 16 + 12*i
		start, end := rune(binary.BigEndian.Uint32(sub[at:])), rune(binary.BigEndian.Uint32(sub[at+4:]))
		if start >= 0 && start <= end && end <= 0x10FFFF {
			out = append(out, [2]rune{start, end})
		}
	}
	return out
}

func merged(all runes) runes {
	slices.SortFunc(all, func(a, b [2]rune) int { return cmp.Compare(a[0], b[0]) })
	var out runes
	for _, r := range all {
		if n := len(out); n > 0 && r[0] <= out[n-1][1]+1 {
			out[n-1][1] = max(out[n-1][1], r[1])
			continue
		}
		out = append(out, r)
	}
	return out
}

// tableOf returns a table of a font, or nil.
func tableOf(data []byte, name string) []byte {
	if len(data) < 12 {
		return nil
	}
	for i := range int(binary.BigEndian.Uint16(data[4:])) {
		at := 12 + 16*i
		if at+16 > len(data) {
			return nil
		}
		offset, length := uint64(binary.BigEndian.Uint32(data[at+8:])), uint64(binary.BigEndian.Uint32(data[at+12:]))
		if string(data[at:at+4]) == name && offset+length <= uint64(len(data)) {
			return data[offset : offset+length]
		}
	}
	return nil
}
