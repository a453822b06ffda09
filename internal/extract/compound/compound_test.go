package compound_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract/compound"
	"github.com/seed-7227ef26/async-worker/internal/extract/compound/compoundtest"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func open(t testing.TB, content []byte) (*compound.File, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := compound.Open(path)
	if err == nil {
		t.Cleanup(func() { _ = f.Close() })
	}
	return f, err
}

func sample() []byte {
	return compoundtest.File(map[string][]byte{
		"small": []byte("Text."), "empty": nil, "storage/deep/stream": bytes.Repeat([]byte("0123456789"), 5000),
		"storage/other": bytes.Repeat([]byte("ab"), 2000), "exact": make([]byte, 4096), "mini": make([]byte, 4095),
	})
}

func TestStreams(t *testing.T) {
	t.Parallel()
	f, err := open(t, sample())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]byte{
		"small": []byte("Text."), "storage/deep/stream": bytes.Repeat([]byte("0123456789"), 5000), "empty": nil,
		"storage/other": bytes.Repeat([]byte("ab"), 2000), "exact": make([]byte, 4096), "mini": make([]byte, 4095),
		"missing": nil, "storage": nil, "STORAGE/Other": bytes.Repeat([]byte("ab"), 2000),
	} {
		got, err := io.ReadAll(f.Stream(name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, %v; want %d", name, len(got), err, len(want))
		}
	}
	if !f.Has("storage/deep") || !f.Has("Storage/Deep") || f.Has("deep") || len(f.Names()) != 8 {
		t.Errorf("%q", f.Names())
	}
}

// TestCase: names mean the same stream in any case of letters, and are listed as they are written.
func TestCase(t *testing.T) {
	t.Parallel()
	f, err := open(t, compoundtest.File(map[string][]byte{"WORDDOCUMENT": []byte("Text."), "storage/Inner": []byte("More.")}))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(f.Read("WordDocument", 10)) + string(f.Read("Storage/inner", 10)); got != "Text.More." ||
		!f.Has("WordDocument") || !slices.Contains(f.Names(), "WORDDOCUMENT") {
		t.Errorf("%q of %q", got, f.Names())
	}
}

// TestLongPaths: a file of a few megabytes must not have names of hundreds.
func TestLongPaths(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(strings.Repeat("名", 30)+"/", 30)
	streams := map[string][]byte{}
	for i := range 10_000 {
		streams[fmt.Sprint(deep, i)] = nil
	}
	f, err := open(t, compoundtest.File(streams))
	if err != nil {
		return
	}
	sum := 0
	for _, name := range f.Names() {
		sum += len(name)
	}
	t.Errorf("%d names take %d MB", len(f.Names()), sum>>20)
}

// A damaged file is an error or lacks something; it never loops.
func TestDamage(t *testing.T) {
	t.Parallel()
	whole := compoundtest.File(map[string][]byte{
		"small": []byte("Text."), "storage/other": bytes.Repeat([]byte("ab"), 100), "large": make([]byte, 5000),
	})
	for at := range whole {
		if at > 90 && at%13 != 0 {
			continue
		}
		content := bytes.Clone(whole)
		content[at] ^= byte(1 + at%255)
		f, err := open(t, content)
		if err != nil {
			if e, ok := errors.AsType[*taskerr.Error](err); !ok || e.Class != taskerr.CorruptionDetected {
				t.Fatalf("byte %d: %v", at, err)
			}
			continue
		}
		for _, name := range f.Names() {
			n, err := io.Copy(io.Discard, f.Stream(name))
			if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) || n > int64(len(whole)) {
				t.Fatalf("byte %d: %s has %d bytes, %v", at, name, n, err)
			}
		}
		_ = f.Close() // read-only
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(sample())
	f.Fuzz(func(t *testing.T, content []byte) {
		file, err := open(t, content)
		if err != nil {
			return
		}
		for _, name := range file.Names() {
			if len(file.Read(name, 1<<20)) > len(content) {
				t.Errorf("%q is larger than the file", name)
			}
		}
	})
}

// resized returns a compound file in which the entry of a stream claims another size.
func resized(t *testing.T, content []byte, name string, size uint32) []byte {
	t.Helper()
	wide := make([]byte, 0, 2*len(name))
	for _, b := range []byte(name) {
		wide = append(wide, b, 0)
	}
	at := bytes.LastIndex(content, append(wide, 0, 0))
	if at < 0 {
		t.Fatalf("no entry %q", name)
	}
	content = bytes.Clone(content)
	binary.LittleEndian.PutUint32(content[at+120:], size)
	return content
}

// TestMissingParts: a stream that has less than it claims ends with an error, whatever it claims.
func TestMissingParts(t *testing.T) {
	t.Parallel()
	whole := compoundtest.File(map[string][]byte{"long": make([]byte, 10_000), "short": []byte("Text.")})
	for _, tt := range []struct {
		name string
		size uint32
		read int64
	}{{"long", 1<<32 - 1, 10_240}, {"long", 11_000, 10_240}, {"short", 500, 64}, {"short", 1 << 20, 0}} {
		f, err := open(t, resized(t, whole, tt.name, tt.size))
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, f.Stream(tt.name))
		if !errors.Is(err, io.ErrUnexpectedEOF) || tt.read > 0 && n != tt.read {
			t.Errorf("%s of %d bytes: read %d, %v", tt.name, tt.size, n, err)
		}
	}
}

// TestOverlap: entries that share their sectors don't make a large file of a small one.
func TestOverlap(t *testing.T) {
	t.Parallel()
	content := compoundtest.File(map[string][]byte{"shared": make([]byte, 1<<20)})
	f, err := open(t, content)
	if err != nil {
		t.Fatal(err)
	}
	sum := int64(0)
	for range 1000 { // as that many entries with the same sectors
		n, _ := io.Copy(io.Discard, f.Stream("shared")) // see Spent
		sum += n
	}
	if !f.Spent() || sum > 128<<20 {
		t.Errorf("%d MB were read, spent: %v", sum>>20, f.Spent())
	}
}
