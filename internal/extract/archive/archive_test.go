package archive_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract/archive"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

var limits = archive.Limits{Entries: 50, Ratio: 100, Bytes: 3 << 20}

func packed(t *testing.T, entries int, content string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	method := zip.Deflate
	if content == "" {
		method = zip.Store // to start a deflater anew costs more than all else of an empty entry
	}
	for i := range entries {
		w, err := z.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("Word/part%d.xml", i), Method: method})
		if err == nil {
			_, err = io.WriteString(w, content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func open(t *testing.T, content []byte) (*archive.Archive, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := archive.Open(path, limits)
	if err == nil {
		t.Cleanup(func() { _ = a.Close() })
	}
	return a, err
}

func read(a *archive.Archive, part string) (string, error) {
	rc, err := a.Part(part)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(rc)
	return string(text), errors.Join(err, rc.Close())
}

func TestPart(t *testing.T) {
	t.Parallel()
	a, err := open(t, packed(t, 1, "text"))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := read(a, "/word/PART0.xml"); text != "text" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
	if _, err := read(a, "other"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing part: got %v", err)
	}
}

// TestMethod: a file that another program compressed by a rare method is not damaged.
func TestMethod(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	const lzma = 14
	w, err := z.CreateRaw(&zip.FileHeader{Name: "a.txt", Method: lzma, CompressedSize64: 4, UncompressedSize64: 4})
	if err == nil {
		_, err = io.WriteString(w, "text")
	}
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	a, err := open(t, out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	_, err = read(a, "a.txt")
	if e, ok := errors.AsType[*taskerr.Error](err); !ok || e.Class != taskerr.UnsupportedFormat ||
		!strings.Contains(e.Message, "number 14") {
		t.Errorf("got %v", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	whole := packed(t, 2000, "")
	lying := bytes.Clone(whole) // one entry, according to the record
	end := bytes.LastIndex(lying, []byte("PK\x05\x06"))
	binary.LittleEndian.PutUint16(lying[end+8:], 1)
	binary.LittleEndian.PutUint16(lying[end+10:], 1)
	// The count has 16 bits: of 65,537 entries it says 1.
	wrapped := packed(t, 1<<16+1, "")
	tail := wrapped[bytes.LastIndex(wrapped, []byte("PK\x06\x06")):]
	size, offset := binary.LittleEndian.Uint64(tail[40:]), binary.LittleEndian.Uint64(tail[48:])
	wrapped = append(wrapped[:len(wrapped)-len(tail)], whole[len(whole)-22:]...)
	tail = wrapped[len(wrapped)-22:]
	binary.LittleEndian.PutUint16(tail[8:], 1)
	binary.LittleEndian.PutUint16(tail[10:], 1)
	binary.LittleEndian.PutUint32(tail[12:], uint32(size))
	binary.LittleEndian.PutUint32(tail[16:], uint32(offset))
	for _, tt := range []struct {
		what    string
		content []byte
		class   taskerr.Class
	}{
		{"too many entries", whole, taskerr.QuotaExceeded},
		{"another number of entries", lying, taskerr.CorruptionDetected},
		{"too many entries, hidden", wrapped, taskerr.QuotaExceeded},
		{"cut off", whole[:len(whole)/2], taskerr.CorruptionDetected},
		{"tiny", []byte("PK\x03\x04"), taskerr.CorruptionDetected},
	} {
		_, err := open(t, tt.content)
		if e, ok := errors.AsType[*taskerr.Error](err); !ok || e.Class != tt.class {
			t.Errorf("%s: got %v, want %s", tt.what, err, tt.class)
		}
	}
}

func TestPartRefuses(t *testing.T) {
	t.Parallel()
	a, err := open(t, packed(t, 1, strings.Repeat("a", 2<<20)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := read(a, "word/part0.xml"); err == nil || !strings.Contains(err.Error(),
		"more than 100 times its size") {
		t.Errorf("a bomb: got %v", err)
	}
	// Each part is small enough, all together are not. They don't compress, so the directory's sums are
	// inconspicuous.
	var text strings.Builder
	for r := rand.New(rand.NewPCG(1, 2)); text.Len() < 600_000; {
		text.WriteByte(byte(r.Uint32()))
	}
	if a, err = open(t, packed(t, 6, text.String())); err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		if _, err = read(a, fmt.Sprintf("word/part%d.xml", i)); err != nil {
			break
		}
	}
	if err == nil || !strings.Contains(err.Error(), "more than 3 MB") {
		t.Errorf("many parts: got %v", err)
	}
}

// TestDirectoryDeclaresTooMuch: a declared total above the limit is refused before anything is unpacked.
// TestPassword: a sound entry that is encrypted is not corruption.
func TestPassword(t *testing.T) {
	t.Parallel()
	content := packed(t, 1, "text")
	content[bytes.Index(content, []byte("PK\x01\x02"))+8] |= 1
	a, err := open(t, content)
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.Part("word/part0.xml")
	if e, ok := errors.AsType[*taskerr.Error](err); !ok || e.CodeFor("ingest") != "INGEST_PASSWORD_PROTECTED" {
		t.Errorf("got %v", err)
	}
}

func TestDirectoryDeclaresTooMuch(t *testing.T) {
	t.Parallel()
	together := packed(t, 40, strings.Repeat("0123456789abcdefghij", 5000))
	overlapping := bytes.Clone(packed(t, 2, strings.Repeat("0123456789abcdefghij", 50)))
	for at := range bytes.Count(overlapping, []byte("PK\x01\x02")) {
		place := 0
		for range at + 1 {
			place += bytes.Index(overlapping[place:], []byte("PK\x01\x02")) + 1
		}
		binary.LittleEndian.PutUint32(overlapping[place-1+20:], uint32(len(overlapping)*2/3)) // packed size
	}
	for _, tt := range []struct {
		what    string
		content []byte
		message string
	}{
		{"together too large", together, "unpacks to more than 3 MB"},
		{"larger together than the file", overlapping, "parts of the file overlap"},
	} {
		_, err := open(t, tt.content)
		if e, ok := errors.AsType[*taskerr.Error](err); !ok || e.Class != taskerr.CorruptionDetected ||
			!strings.Contains(e.Message, tt.message) {
			t.Errorf("%s: got %v, want one that says %q", tt.what, err, tt.message)
		}
	}
}

// zip64 rewrites an archive's end as its 64-bit form, with the count of entries declared.
func zip64(content []byte, count uint64) []byte {
	at := bytes.LastIndex(content, []byte("PK\x05\x06"))
	end := bytes.Clone(content[at:])
	size, offset := binary.LittleEndian.Uint32(end[12:]), binary.LittleEndian.Uint32(end[16:])
	out := bytes.Clone(content[:at])
	record := make([]byte, 56+20)
	copy(record, "PK\x06\x06")
	binary.LittleEndian.PutUint64(record[4:], 44)
	binary.LittleEndian.PutUint64(record[24:], count)
	binary.LittleEndian.PutUint64(record[32:], count)
	binary.LittleEndian.PutUint64(record[40:], uint64(size))
	binary.LittleEndian.PutUint64(record[48:], uint64(offset))
	copy(record[56:], "PK\x06\x07")
	binary.LittleEndian.PutUint64(record[56+8:], uint64(at))
	binary.LittleEndian.PutUint32(record[56+16:], 1)
	for i := 8; i < 12; i++ {
		end[i] = 0xFF // entries
	}
	for i := 12; i < 20; i++ {
		end[i] = 0xFF // size and offset
	}
	return append(append(out, record...), end...)
}

func TestZip64(t *testing.T) {
	t.Parallel()
	a, err := open(t, zip64(packed(t, 3, "text"), 3))
	if err != nil {
		t.Fatal(err)
	}
	if got := a.Files(); len(got) != 3 || got[2] != "Word/part2.xml" {
		t.Errorf("got %q", got)
	}
	if text, err := read(a, "word/part2.xml"); text != "text" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
	_, err = open(t, zip64(packed(t, 3, ""), 1<<40))
	if e, ok := errors.AsType[*taskerr.Error](err); !ok || e.Class != taskerr.QuotaExceeded {
		t.Errorf("too many entries: got %v", err)
	}
}
