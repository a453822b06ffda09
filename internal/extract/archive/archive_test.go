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
	for i := range entries {
		w, err := z.Create(fmt.Sprintf("Word/part%d.xml", i))
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

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	whole := packed(t, 2000, "")
	lying := bytes.Clone(whole) // one entry, according to the record
	end := bytes.LastIndex(lying, []byte("PK\x05\x06"))
	binary.LittleEndian.PutUint16(lying[end+8:], 1)
	binary.LittleEndian.PutUint16(lying[end+10:], 1)
	short := bytes.Clone(lying) // and the directory is too short
	binary.LittleEndian.PutUint32(short[end+12:], 50)
	outside := packed(t, 1, "")
	binary.LittleEndian.PutUint32(outside[len(outside)-6:], 1<<30)
	for _, tt := range []struct {
		what    string
		content []byte
		class   taskerr.Class
	}{
		{"too many entries", whole, taskerr.QuotaExceeded},
		{"too many entries, hidden", lying, taskerr.QuotaExceeded},
		{"too many entries, well hidden", short, taskerr.QuotaExceeded},
		{"directory outside", outside, taskerr.CorruptionDetected},
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
