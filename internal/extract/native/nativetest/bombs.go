package nativetest

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Bomb is a small file that would be expensive to read. It must be refused quickly.
type Bomb struct {
	Name    string // a description with the file extension
	Class   taskerr.Class
	Message string // part of the error message
	Write   func(w io.Writer) error
}

// The sizes in the acceptance tests: a gigabyte unpacked, and the nesting of elements.
const (
	bombBytes = 1 << 30
	bombDepth = 100_000
)

// Bombs returns archives of each format that unpack to a gigabyte, in several ways, and texts of each format
// that are nested too deep.
func Bombs() (all []Bomb) {
	const looks, deep = "looks like a zip bomb", "nested deeper"
	for _, c := range containers() {
		all = append(
			all,
			Bomb{"one part of a gigabyte." + c.format, taskerr.CorruptionDetected, looks, func(w io.Writer) error {
				return c.pack(w, c.around(blanks, bombBytes, bombBytes))
			}},
			Bomb{"a part that says it is small." + c.format, taskerr.CorruptionDetected, "", func(w io.Writer) error {
				return c.pack(w, c.around(blanks, bombBytes, 4<<20))
			}},
			Bomb{
				"parts that pack to less than the ratio, a gigabyte together." + c.format, taskerr.CorruptionDetected,
				looks, func(w io.Writer) error {
					parts := c.around(words, 60<<20, 60<<20)
					for i := range 17 {
						parts = append(parts, packedPart{
							name: fmt.Sprintf("%s.%d.xml", c.main, i), packed: parts[len(parts)-1].packed,
							size: 60 << 20,
						})
					}
					return c.pack(w, parts)
				},
			},
			Bomb{"entries that overlap." + c.format, taskerr.CorruptionDetected, looks, func(w io.Writer) error {
				return overlapping(w, c)
			}},
			Bomb{"elements nested 100,000 deep." + c.format, taskerr.CorruptionDetected, deep, func(w io.Writer) error {
				return c.pack(w, []packedPart{stored(c.main, c.before+strings.Repeat(c.element, bombDepth)+c.after)})
			}},
		)
	}
	for _, t := range []struct{ name, content, message string }{
		{"elements nested 100,000 deep.html", "<!doctype html><body>" + strings.Repeat("<div>", bombDepth), deep},
		{"groups nested 100,000 deep.rtf", `{\rtf1 ` + strings.Repeat("{", bombDepth), deep},
		{"quotations nested 100,000 deep.md", "# a\n\n" + strings.Repeat("> ", bombDepth) + "a\n", deep},
	} {
		all = append(all, Bomb{t.name, taskerr.CorruptionDetected, t.message, func(w io.Writer) error {
			_, err := io.WriteString(w, t.content)
			return err
		}})
	}
	return all
}

// container is a zip-based format: the minimal parts for its main text to be read.
type container struct {
	format                 string
	parts                  []string // pairs of name and content
	main                   string   // the part with the text
	before, element, after string   // of the main part
}

func containers() []container {
	const (
		relations = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="a" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/%s" Target="%s"/></Relationships>`
		word      = `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>a</w:t></w:r></w:p>`
		slide     = `<p:sld xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><p:cSld><p:spTree>`
		odf       = `<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:text>`
	)
	return []container{
		{
			format: "docx", main: "word/document.xml", before: word, element: "<w:p>", after: "</w:body></w:document>",
			parts: []string{
				"[Content_Types].xml", "<Types/>", "_rels/.rels",
				fmt.Sprintf(relations, "officeDocument", "word/document.xml"),
			},
		},
		{
			format: "pptx", main: "ppt/slides/slide1.xml", before: slide, element: "<p:grpSp>",
			after: "</p:spTree></p:cSld></p:sld>",
			parts: []string{
				"[Content_Types].xml", "<Types/>", "_rels/.rels",
				fmt.Sprintf(relations, "officeDocument", "ppt/presentation.xml"),
				"ppt/presentation.xml", `<p:presentation xmlns:p="p" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><p:sldIdLst><p:sldId id="256" r:id="a"/></p:sldIdLst></p:presentation>`,
				"ppt/_rels/presentation.xml.rels", fmt.Sprintf(relations, "slide", "slides/slide1.xml"),
			},
		},
		{
			format: "xlsx", main: "xl/worksheets/sheet1.xml", element: "<row><c>", after: "</sheetData></worksheet>",
			before: `<worksheet><sheetData><row><c t="inlineStr"><is><t>a</t></is></c></row>`,
			parts: []string{
				"[Content_Types].xml", "<Types/>", "_rels/.rels",
				fmt.Sprintf(relations, "officeDocument", "xl/workbook.xml"),
				"xl/workbook.xml", `<workbook xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="a" sheetId="1" r:id="a"/></sheets></workbook>`,
				"xl/_rels/workbook.xml.rels", fmt.Sprintf(relations, "worksheet", "worksheets/sheet1.xml"),
			},
		},
		{
			format: "odt", main: "content.xml", before: odf, element: "<text:section>",
			after: "</office:text></office:body></office:document-content>",
			parts: []string{"mimetype", "application/vnd.oasis.opendocument.text"},
		},
		{
			format: "epub", main: "a.xhtml", element: "<div>", after: "</body></html>",
			before: `<html xmlns="http://www.w3.org/1999/xhtml"><body><p>a</p>`,
			parts: []string{
				"mimetype", "application/epub+zip",
				"META-INF/container.xml",
				`<container><rootfiles><rootfile full-path="book.opf"/></rootfiles></container>`,
				"book.opf", `<package><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>`,
			},
		},
	}
}

// packedPart is an entry of an archive.
type packedPart struct {
	name   string
	packed []byte // deflated, unless stored
	size   uint64 // unpacked size, as the directory declares it
	sum    uint32
	stored bool
}

func stored(name, content string) packedPart {
	return packedPart{name, []byte(content), uint64(len(content)), crc32.ChecksumIEEE([]byte(content)), true}
}

// around returns the main part with size bytes of filling in it, declared with the size declared.
func (c container) around(filling func(size int) []byte, size int, declared uint64) []packedPart {
	packed := bytes.Join([][]byte{flushed([]byte(c.before)), filling(size), deflate([]byte(c.after))}, nil)
	return []packedPart{{name: c.main, packed: packed, size: declared}}
}

func (c container) pack(w io.Writer, parts []packedPart) error {
	z := zip.NewWriter(w)
	for i := 0; i < len(c.parts); i += 2 {
		part, err := z.Create(c.parts[i])
		if err == nil {
			_, err = io.WriteString(part, c.parts[i+1])
		}
		if err != nil {
			return err
		}
	}
	for _, p := range parts {
		method := zip.Deflate
		if p.stored {
			method = zip.Store
		}
		part, err := z.CreateRaw(&zip.FileHeader{
			Name: p.name, Method: method, CRC32: p.sum, CompressedSize64: uint64(len(p.packed)),
			UncompressedSize64: p.size,
		})
		if err == nil {
			_, err = part.Write(p.packed)
		}
		if err != nil {
			return err
		}
	}
	return z.Close()
}

// overlapping writes one part of 4 MB that 250 directory entries share, as in David Fifield's "A better zip
// bomb" (WOOT 2019).
func overlapping(w io.Writer, c container) error {
	const shared = 250
	var out bytes.Buffer
	if err := c.pack(&out, c.around(words, 4<<20, 4<<20)); err != nil {
		return err
	}
	file := out.Bytes()
	end := bytes.LastIndex(file, []byte("PK\x05\x06"))
	last := bytes.LastIndex(file, []byte("PK\x01\x02")) // the main part's header is the last one
	if end < 0 || last < 0 {
		return errors.New("the archive has no directory")
	}
	header, tail := file[last:end], bytes.Clone(file[end:])
	whole := append(bytes.Clone(file[:end]), bytes.Repeat(header, shared)...)
	for _, at := range []int{8, 10} { // entries
		binary.LittleEndian.PutUint16(tail[at:], binary.LittleEndian.Uint16(tail[at:])+shared)
	}
	binary.LittleEndian.PutUint32(tail[12:], binary.LittleEndian.Uint32(tail[12:])+uint32(shared*len(header)))
	_, err := w.Write(append(whole, tail...))
	return err
}

// blanks returns deflated white space, which compresses to a thousandth.
func blanks(size int) []byte { return repeatDeflated(bytes.Repeat([]byte(" "), 1<<20), size) }

// words returns text that compresses to about a hundredth, which is below the ratio of a bomb.
func words(size int) []byte {
	var text bytes.Buffer
	for i := 0; text.Len() < 1<<20; i++ {
		fmt.Fprintf(&text, "%x%s", i*7919%4093, strings.Repeat(" ", 300))
	}
	return repeatDeflated(text.Bytes()[:1<<20], size)
}

// repeatDeflated returns size bytes of repeated text, deflated. It deflates the text once.
func repeatDeflated(text []byte, size int) []byte {
	return bytes.Repeat(flushed(text), size/len(text))
}

// flushed deflates a text such that more can follow.
func flushed(text []byte) []byte { return compress(text, (*flate.Writer).Flush) }

func deflate(text []byte) []byte { return compress(text, (*flate.Writer).Close) }

func compress(text []byte, end func(*flate.Writer) error) []byte {
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.DefaultCompression)
	if err == nil {
		_, err = w.Write(text)
	}
	if err == nil {
		err = end(w)
	}
	if err != nil {
		panic(err) // writes to memory don't fail
	}
	return out.Bytes()
}
