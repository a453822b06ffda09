package msg_test

import (
	"encoding/binary"
	"fmt"
	"maps"
	"strings"
	"testing"
	"unicode/utf16"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/compound/compoundtest"
	"github.com/seed-7227ef26/async-worker/internal/extract/native"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func reader() extract.Extractor { return native.Extractors(nil, nil)[extract.MSG] }

func wide(text string) (out []byte) {
	for _, unit := range utf16.Encode([]rune(text)) {
		out = binary.LittleEndian.AppendUint16(out, unit)
	}
	return out
}

// streams are those of an object at a path.
type streams map[string][]byte

func (s streams) text(path string, id uint16, text string) streams {
	s[fmt.Sprintf("%s__substg1.0_%04X001F", path, id)] = wide(text)
	return s
}

func (s streams) raw(path string, id, kind uint16, content []byte) streams {
	s[fmt.Sprintf("%s__substg1.0_%04X%04X", path, id, kind)] = content
	return s
}

func (s streams) fixed(path string, header int, values map[uint16]uint64) streams {
	properties := make([]byte, header)
	for id, value := range values {
		properties = binary.LittleEndian.AppendUint16(properties, 3)
		properties = binary.LittleEndian.AppendUint16(properties, id)
		properties = binary.LittleEndian.AppendUint32(properties, 6)
		properties = binary.LittleEndian.AppendUint64(properties, value)
	}
	s[path+"__properties_version1.0"] = properties
	return s
}

// message is a message at a path with a plain text.
func message(path string, header int, subject string) streams {
	return streams{}.text(path, 0x37, subject).text(path, 0xC1A, "Jane Doe").text(path, 0x5D01, "jane@example.com").
		text(path, 0x1000, "Text of "+subject+".").fixed(path, header, map[uint16]uint64{0x39: 134170056000000000})
}

func join(all ...streams) map[string][]byte {
	out := map[string][]byte{}
	for _, s := range all {
		maps.Copy(out, s)
	}
	return out
}

const head = "From: Jane Doe &lt;jane@example.com>\n\n"

func TestMessage(t *testing.T) {
	t.Parallel()
	const a0, a1, a2, a3 = "__attach_version1.0_#00000000/", "__attach_version1.0_#00000001/",
		"__attach_version1.0_#00000002/", "__attach_version1.0_#00000003/"
	const inner = a1 + "__substg1.0_3701000D/"
	to, cc := "__recip_version1.0_#00000000/", "__recip_version1.0_#00000001/"
	content := compoundtest.File(join(
		message("", 32, "Übersicht"),
		streams{}.text(to, 0x3001, "Bob").text(to, 0x39FE, "bob@example.com").fixed(to, 8, map[uint16]uint64{0xC15: 1}),
		streams{}.text(cc, 0x3001, "Ann").text(cc, 0x3003, "/O=EXCHANGE/CN=ANN").fixed(cc, 8, map[uint16]uint64{0xC15: 2}),
		streams{}.text(a0, 0x3707, "numbers.csv").raw(a0, 0x3701, 0x102, []byte("a,b\n1,2\n")).fixed(a0, 8, nil),
		streams{}.text(a1, 0x3001, "Inner").fixed(a1, 8, nil), message(inner, 24, "Inner"),
		streams{}.text(a2, 0x3707, "logo.png").raw(a2, 0x3701, 0x102, []byte("\x89PNG")).fixed(a2, 8, map[uint16]uint64{0x3714: 4}),
		streams{}.text(a3, 0x3704, "x.bin").raw(a3, 0x3701, 0x102, []byte{0, 1, 2}).fixed(a3, 8, nil),
	))
	got := nativetest.Markdown(t, reader(), extract.MSG, content)
	want := "# Übersicht\n\n" + head + "To: Bob &lt;bob@example.com>\n\nCc: Ann\n\nDate: 2026-03-03T10:00:00Z\n\n" +
		"Text of Übersicht.\n\n## numbers.csv\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n## Inner\n\n" + head +
		"Date: 2026-03-03T10:00:00Z\n\nText of Inner.\n\nAttachment: x.bin\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	doc, err := nativetest.Extract(t, reader(), extract.MSG, content, extract.Limits{})
	if err != nil || doc.Title != "Übersicht" || doc.Properties["attachments"] != "3" || len(doc.Warnings) != 1 ||
		!strings.Contains(doc.Warnings[0], "x.bin (this kind of file can't be read)") {
		t.Errorf("%v, %+v", err, doc.Info)
	}
}

// packedRTF is the example of [MS-OXRTFCP] 4.1.1.
const packedRTF = "\x2d\x00\x00\x00\x2b\x00\x00\x00\x4c\x5a\x46\x75\xf1\xc5\xc7\xa7\x03\x00\x0a\x00\x72\x63\x70\x67\x31" +
	"\x32\x35\x42\x32\x0a\xf3\x20\x68\x65\x6c\x09\x00\x20\x62\x77\x05\xb0\x6c\x64\x7d\x0a\x80\x0f\xa0"

// storedRTF is a text that is not compressed ([MS-OXRTFCP] 2.1.3.1.5).
func storedRTF(text string) []byte {
	header := binary.LittleEndian.AppendUint32(nil, uint32(len(text)+12))
	header = binary.LittleEndian.AppendUint32(header, uint32(len(text)))
	return append(header, "MELA\x00\x00\x00\x00"+text...)
}

const russian = "Добрый день! Посылаем вам договор о поставке зерна и просим вернуть один экземпляр до конца недели."

func encoded(t *testing.T, as encoding.Encoding, text string) []byte {
	t.Helper()
	content, err := as.NewEncoder().Bytes([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestBodies(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		parts streams
		want  string
	}{
		"8-bit": {
			streams{}.raw("", 0x1000, 0x1E, []byte("\xCF\xF0\xE8\xE2\xE5\xF2")).fixed("", 32, map[uint16]uint64{0x3FFD: 1251}),
			"Привет\n",
		},
		"8-bit, undeclared": {
			streams{}.raw("", 0x1000, 0x1E, encoded(t, charmap.Windows1251, russian)).fixed("", 32, nil), russian + "\n",
		},
		"8-bit, declared for the internet": {
			streams{}.raw("", 0x1000, 0x1E, []byte("\xA4\xA4\xA4\xE5")).fixed("", 32, map[uint16]uint64{0x3FDE: 950}), "中文\n",
		},
		"8-bit, UTF-8 declared for the internet": {
			streams{}.raw("", 0x1000, 0x1E, []byte("\xFCber")).fixed("", 32, map[uint16]uint64{0x3FDE: 65001}), "über\n",
		},
		"HTML": {
			streams{}.raw("", 0x1013, 0x102, []byte("<p>\xFCber</p><ul><li>a</ul>")).
				fixed("", 32, map[uint16]uint64{0x3FDE: 28591}), "über\n\n- a\n",
		},
		"HTML as text": {streams{}.text("", 0x1013, "<h1>Über</h1>"), "## Über\n"},
		"RTF":          {streams{}.raw("", 0x1009, 0x102, []byte(packedRTF)), "hello world\n"},
		"RTF in two code pages": {
			streams{}.raw("", 0x1009, 0x102, storedRTF(`{\rtf1\ansi\ansicpg1251{\fonttbl{\f0\fcharset0 Arial;}`+
				`{\f1\fcharset204 Arial;}}\f0 caf\'e9 \f1\'e9}`)), "café й\n",
		},
		"empty plain text": {
			streams{}.text("", 0x1000, "").raw("", 0x1013, 0x102, []byte("<p>Page</p>")), "Page\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, got, _ := strings.Cut(nativetest.Markdown(t, reader(), extract.MSG,
				compoundtest.File(join(streams{}.text("", 0x37, "S").fixed("", 32, nil), tt.parts))), "# S\n\n")
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// A message that one person sends for another shows the other one, never the name of one with the address of the other.
func TestAuthor(t *testing.T) {
	t.Parallel()
	const boss, bossSMTP, bossAddress, sender, senderSMTP, senderAddress = 0x42, 0x5D02, 0x65, 0xC1A, 0x5D01, 0xC1F
	for name, tt := range map[string]struct {
		texts map[uint16]string
		want  string
	}{
		"on behalf": {
			map[uint16]string{boss: "Ann", bossSMTP: "ann@x.org", bossAddress: "/O=X", sender: "Bob", senderSMTP: "bob@x.org"},
			"Ann <ann@x.org>",
		},
		"on behalf, Internet mail": {
			map[uint16]string{boss: "Ann", bossAddress: "ann@x.org", sender: "Bob", senderAddress: "bob@x.org"}, "Ann <ann@x.org>",
		},
		"on behalf, no address": {map[uint16]string{boss: "Ann", bossAddress: "/O=X", sender: "Bob", senderSMTP: "bob@x.org"}, "Ann"},
		"no sender's name":      {map[uint16]string{boss: "Ann", senderSMTP: "bob@x.org"}, "Ann"},
		"one person": {
			map[uint16]string{boss: "Ann", bossAddress: "/O=X", sender: "Ann", senderSMTP: "ann@x.org"}, "Ann <ann@x.org>",
		},
		"sender alone":  {map[uint16]string{sender: "Bob", senderAddress: "bob@x.org"}, "Bob <bob@x.org>"},
		"address alone": {map[uint16]string{senderAddress: "bob@x.org"}, "bob@x.org"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := streams{}.text("", 0x37, "S").text("", 0x1000, "Text.").fixed("", 32, nil)
			for id, text := range tt.texts {
				s.text("", id, text)
			}
			doc, err := nativetest.Extract(t, reader(), extract.MSG, compoundtest.File(s), extract.Limits{})
			if err != nil || doc.Properties["author"] != tt.want || doc.Blocks[1].Text != "From: "+tt.want {
				t.Errorf("%v, %q, %+v, want %q", err, doc.Properties["author"], doc.Blocks, tt.want)
			}
		})
	}
}

func TestDepth(t *testing.T) {
	t.Parallel()
	all := []streams{message("", 32, "0")}
	path := ""
	for i := range 12 {
		path += "__attach_version1.0_#00000000/"
		all = append(all, streams{}.fixed(path, 8, nil))
		path += "__substg1.0_3701000D/"
		all = append(all, message(path, 24, fmt.Sprint(i+1)))
	}
	doc, err := nativetest.Extract(t, reader(), extract.MSG, compoundtest.File(join(all...)), extract.Limits{})
	if err != nil || len(doc.Warnings) != 1 || !strings.Contains(doc.Warnings[0], "more than 8 deep") ||
		len(doc.Blocks) != 9*4 {
		t.Errorf("%v, %d blocks, %+v", err, len(doc.Blocks), doc.Info)
	}
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	whole := compoundtest.File(join(message("", 32, "S")))
	nativetest.RefusesAll(t, reader(), extract.MSG, []nativetest.Refusal{
		{What: "cut off", Content: whole[:1024], Class: taskerr.CorruptionDetected, Message: "damaged"},
		{
			What: "encrypted", Content: sent("IPM.Note.SMIME", "\x30\x80\x06\x09\x2A\x86\x48\x86\xF7\x0D\x01\x07\x03\xA0\x80"),
			Class: taskerr.CorruptionDetected, Message: "encrypted",
		},
		{
			What:    "encrypted, with authentication",
			Content: sent("IPM.Note.SMIME", "\x30\x82\x10\x00\x06\x0B\x2A\x86\x48\x86\xF7\x0D\x01\x09\x10\x01\x17\xA0\x80"),
			Class:   taskerr.CorruptionDetected, Message: "encrypted",
		},
		{
			What:    "an encrypted entity",
			Content: sent("IPM.Note.SMIME", "Content-Type: application/pkcs7-mime; smime-type=enveloped-data\n\nMIAG"),
			Class:   taskerr.CorruptionDetected, Message: "encrypted",
		},
	})
}

func FuzzMessage(f *testing.F) {
	const a0 = "__attach_version1.0_#00000000/"
	f.Add(compoundtest.File(join(message("", 32, "S"), streams{}.text(a0, 0x3707, "a.csv").
		raw(a0, 0x3701, 0x102, []byte("a,b\n1,2\n")).fixed(a0, 8, nil))))
	f.Add(compoundtest.File(join(streams{}.raw("", 0x1009, 0x102, []byte(packedRTF)).fixed("", 32, nil))))
	e := reader()
	f.Fuzz(func(t *testing.T, content []byte) { nativetest.Fuzz(t, e, extract.MSG, content) })
}

// TestCutOff: an attachment that is not whole is read as far as it goes, and named.
func TestCutOff(t *testing.T) {
	t.Parallel()
	const a0 = "__attach_version1.0_#00000000/"
	long := strings.Repeat("Words of a note ", 1024) // whole sectors
	content := compoundtest.File(join(message("", 32, "S"), streams{}.text(a0, 0x3707, "a.txt").
		raw(a0, 0x3701, 0x102, []byte(long)).fixed(a0, 8, map[uint16]uint64{0x3705: 1})))
	at := strings.LastIndex(string(content), string(wide("__substg1.0_37010102")))
	binary.LittleEndian.PutUint32(content[at+120:], 1<<32-1)
	doc, err := nativetest.Extract(t, reader(), extract.MSG, content, extract.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if last := doc.Blocks[len(doc.Blocks)-1].Text; last != strings.TrimSpace(long) ||
		!strings.Contains(strings.Join(doc.Warnings, "; "), "cut off") {
		t.Errorf("%.100q, %q", last, doc.Warnings)
	}
}
