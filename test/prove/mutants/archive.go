package mutants

import (
	"archive/zip"
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"path"
	"strings"
)

// entry is a file within a zip, unpacked.
type entry struct {
	name    string
	content []byte
}

// unpack reads a zip; nil if it can't be read.
func unpack(content []byte) []entry {
	z, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil
	}
	var all []entry
	for _, f := range z.File {
		rc, err := f.Open()
		if err != nil {
			return nil
		}
		text, err := io.ReadAll(io.LimitReader(rc, sizeMax))
		_ = rc.Close() // only read
		if err != nil {
			return nil
		}
		all = append(all, entry{f.Name, text})
	}
	return all
}

// archive changes the contents of entries and packs them again, so that the readers behind the zip are reached;
// sometimes it changes the entries themselves, and the packed bytes.
func (m *mutator) archive(base, other Seed) []byte {
	all := append([]entry(nil), base.entries...)
	for n := 1 + m.IntN(3); n > 0; n-- {
		i := m.choose(all)
		var foreign []byte
		for _, e := range other.entries {
			if path.Ext(e.name) == path.Ext(all[i].name) && (foreign == nil || e.name == all[i].name ||
				m.IntN(4) == 0) {
				foreign = e.content
			}
		}
		change := m.byte
		if isMarkup(all[i]) {
			change = m.tag
		}
		all[i].content = m.several(all[i].content, foreign, change)
		if isMarkup(all[i]) && m.IntN(8) > 0 {
			all[i].content = balance(all[i].content)
		}
	}
	if m.IntN(5) == 0 {
		all = m.entries(all)
	}
	packed := pack(all)
	if m.IntN(20) == 0 {
		return m.several(packed, other.Content, m.byte)
	}
	return packed
}

// choose prefers entries with text to those with pictures and the like.
func (m *mutator) choose(all []entry) int {
	for range 20 {
		if i := m.IntN(len(all)); isMarkup(all[i]) && (m.IntN(3) == 0 || !strings.Contains(all[i].name, "theme")) {
			return i
		}
	}
	return m.IntN(len(all))
}

func isMarkup(e entry) bool {
	switch path.Ext(e.name) {
	case ".xml", ".rels", ".xhtml", ".html", ".opf", ".ncx", ".vml":
		return true
	}
	return bytes.HasPrefix(e.content, []byte("<?xml"))
}

// entries changes the list of entries and their names.
func (m *mutator) entries(all []entry) []entry {
	a, b := m.IntN(len(all)), m.IntN(len(all))
	switch m.IntN(5) {
	case 0:
		return append(all[:a:a], all[a+1:]...)
	case 1:
		all[a].content, all[b].content = all[b].content, all[a].content
	case 2:
		return append(all, entry{all[a].name, all[b].content})
	case 3:
		all[a].name = [...]string{
			"", "/" + all[a].name, "../" + all[a].name, strings.ToUpper(all[a].name),
			strings.ReplaceAll(all[a].name, "/", `\`), all[b].name + "/x",
		}[m.IntN(6)]
	case 4:
		for i := range 1 + m.IntN(3)*m.IntN(2000) {
			all = append(all, entry{fmt.Sprintf("%s.%d", all[a].name, i), nil})
		}
	}
	return all
}

// pack stores the entries without compression: that is quicker, and the sizes are true.
func pack(all []entry) []byte {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, e := range all {
		w, err := z.CreateRaw(&zip.FileHeader{
			Name: e.name, Method: zip.Store, CRC32: crc32.ChecksumIEEE(e.content),
			CompressedSize64: uint64(len(e.content)), UncompressedSize64: uint64(len(e.content)),
		})
		if err == nil {
			_, err = w.Write(e.content)
		}
		if err != nil {
			return out.Bytes() // incomplete
		}
	}
	_ = z.Close() // into memory
	return out.Bytes()
}
