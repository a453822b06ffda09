// Package compoundtest makes compound files ([MS-CFB]) for tests.
package compoundtest

import (
	"encoding/binary"
	"maps"
	"slices"
	"strings"
	"unicode/utf16"
)

const (
	sector, mini, cutoff = 512, 64, 4096

	end, free, table = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD
)

// item is an entry of the directory.
type item struct {
	name        string
	kind        byte
	right, kid  uint32
	start, size uint32
}

// maker holds the sectors of a file.
type maker struct {
	data  []byte
	chain []uint32 // the next sector of each
	small []byte   // the mini stream
	next  []uint32 // the next mini sector of each
}

// File makes a file of streams by their paths, such as "storage/stream". It holds up to 50 KB in small ones, and 6 MB
// in all.
func File(streams map[string][]byte) []byte {
	m := &maker{}
	items := []item{{name: "Root Entry", kind: 5, right: free, kid: free}}
	folders := map[string]int{"": 0} // by path
	var place func(path string) int
	place = func(path string) int {
		if at, ok := folders[path]; ok {
			return at
		}
		above := ""
		if cut := strings.LastIndex(path, "/"); cut >= 0 {
			above = path[:cut]
		}
		parent := place(above)
		// each is the first among its siblings: a list
		items = append(items, item{name: path[strings.LastIndex(path, "/")+1:], kind: 1, right: items[parent].kid, kid: free})
		items[parent].kid = uint32(len(items) - 1)
		folders[path] = len(items) - 1
		return len(items) - 1
	}
	for _, path := range slices.Sorted(maps.Keys(streams)) {
		at := place(path)
		items[at].kind, items[at].size = 2, uint32(len(streams[path]))
		items[at].start = m.add(streams[path])
	}
	miniTable, miniSectors := uint32(end), uint32(0)
	if len(m.small) > 0 {
		items[0].size = uint32(len(m.small))
		items[0].start = m.put(m.small)
		links := words(m.next)
		miniTable, miniSectors = m.put(links), uint32((len(links)+sector-1)/sector)
	}
	var directory []byte
	for _, i := range items {
		directory = append(directory, i.bytes()...)
	}
	first := m.put(directory)
	return append(m.header(first, miniTable, miniSectors), m.data...)
}

func words(all []uint32) (out []byte) {
	for _, n := range all {
		out = binary.LittleEndian.AppendUint32(out, n)
	}
	return out
}

// add stores a stream.
func (m *maker) add(content []byte) uint32 {
	if len(content) == 0 {
		return end
	}
	if len(content) >= cutoff {
		return m.put(content)
	}
	start := uint32(len(m.next))
	m.small = append(m.small, content...)
	m.small = append(m.small, make([]byte, -len(m.small)&(mini-1))...)
	m.next = link(m.next, len(m.small)/mini)
	return start
}

// link extends a table to n entries, which form one chain.
func link(table []uint32, n int) []uint32 {
	for len(table) < n-1 {
		table = append(table, uint32(len(table)+1))
	}
	return append(table, end)
}

// put stores content in sectors.
func (m *maker) put(content []byte) uint32 {
	start := uint32(len(m.chain))
	m.data = append(m.data, content...)
	m.data = append(m.data, make([]byte, -len(m.data)&(sector-1))...)
	m.chain = link(m.chain, len(m.data)/sector)
	return start
}

// header appends the allocation table and returns the header.
func (m *maker) header(directory, miniTable, miniSectors uint32) []byte {
	first, count := uint32(len(m.chain)), 1
	for (len(m.chain)+count)*4 > count*sector {
		count++
	}
	for range count {
		m.chain = append(m.chain, table)
	}
	links := words(m.chain)
	for len(links)%sector != 0 {
		links = append(links, 0xFF)
	}
	m.data = append(m.data, links...)
	h := make([]byte, sector)
	copy(h, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1")
	copy(h[24:], "\x3E\x00\x03\x00\xFE\xFF\x09\x00\x06\x00") // versions, byte order, sizes of sectors
	for at, n := range map[int]uint32{
		44: uint32(count), 48: directory, 56: cutoff, 60: miniTable, 64: miniSectors, 68: end,
	} {
		binary.LittleEndian.PutUint32(h[at:], n)
	}
	for i := range 109 {
		n := uint32(free)
		if i < count {
			n = first + uint32(i)
		}
		binary.LittleEndian.PutUint32(h[76+4*i:], n)
	}
	return h
}

func (i item) bytes() []byte {
	b := make([]byte, 128)
	for at, unit := range utf16.Encode([]rune(i.name)) {
		binary.LittleEndian.PutUint16(b[2*at:], unit)
	}
	binary.LittleEndian.PutUint16(b[64:], uint16(2*len(utf16.Encode([]rune(i.name)))+2))
	b[66], b[67] = i.kind, 1
	for at, n := range map[int]uint32{68: free, 72: i.right, 76: i.kid, 116: i.start, 120: i.size} {
		binary.LittleEndian.PutUint32(b[at:], n)
	}
	if i.kind != 5 && i.kind != 1 {
		binary.LittleEndian.PutUint32(b[76:], free)
	}
	return b
}
