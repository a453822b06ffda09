package soffice_test

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/child"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/compound/compoundtest"
	"github.com/seed-7227ef26/async-worker/internal/extract/native"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/soffice"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const samples = "../../../../test/prove/mutants/samples/"

func needsOffice(t *testing.T) {
	t.Helper()
	if err := soffice.Missing(); err != nil {
		t.Skip(err)
	}
}

func sample(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(samples + name)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// Documents of each format are read as the modern ones that they are converted to.
func TestConverted(t *testing.T) {
	t.Parallel()
	needsOffice(t)
	all := native.Extractors(nil, nil)
	for _, tt := range []struct {
		sample string
		format extract.Format
		want   string
	}{
		{"dredger.doc", extract.DOC, "# Harbour report\n\nThe crane was late.\n\n- first\n- second\n\n| Name | Tons |\n| - | - |\n" +
			"| Ada | 36 |\n"},
		{"tonnage.xls", extract.XLS, "| Name | Tons |\n| - | - |\n| Ada | 36 |\n| Alan | 41 |\n"},
		{"ropes.ppt", extract.PPT, "- The harbour\n- Quay\n    2. Crane\n\nGrouped\n\nNotes: Speak slowly\n\n| h | h |\n"},
	} {
		t.Run(tt.sample, func(t *testing.T) {
			t.Parallel()
			path, err := filepath.Abs(samples + tt.sample)
			if err != nil {
				t.Fatal(err)
			}
			src, err := extract.Open(path, "named.txt")
			if err != nil || src.Format != tt.format {
				t.Fatalf("%s, %v", src.Format, err)
			}
			got := nativetest.Markdown(t, all[tt.format], tt.format, sample(t, tt.sample))
			if !strings.HasPrefix(got, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	needsOffice(t)
	fib := make([]byte, 5000)
	binary.LittleEndian.PutUint16(fib, 0xA5EC)
	binary.LittleEndian.PutUint16(fib[2:], 0xC1)
	binary.LittleEndian.PutUint16(fib[10:], 1<<8)
	locked := compoundtest.File(map[string][]byte{"WordDocument": fib, "1Table": make([]byte, 5000)})
	whole := sample(t, "dredger.doc")
	all := native.Extractors(nil, nil)
	nativetest.RefusesAll(t, all[extract.DOC], extract.DOC, []nativetest.Refusal{
		{What: "password", Content: locked, Class: taskerr.UnsupportedFormat, Message: "password"},
		{What: "cut off", Content: whole[:3000], Class: taskerr.CorruptionDetected, Message: "LibreOffice can't read"},
	})
	_, err := nativetest.Extract(t, all[extract.DOC], extract.DOC, whole, extract.Limits{Time: 1})
	if e, ok := errors.AsType[*taskerr.Error](err); !ok || !strings.Contains(e.Message, "too long") {
		t.Errorf("no time: %v", err)
	}
}

// The text of a document that names files of the machine has none of their content.
func TestNoOtherFiles(t *testing.T) {
	t.Parallel()
	needsOffice(t)
	if c := child.Confine(); c.NoLandlock != nil {
		t.Skip(c.NoLandlock)
	}
	secret := filepath.Join(t.TempDir(), "secret.txt")
	if err := os.WriteFile(secret, []byte("xyzzy"), 0o600); err != nil {
		t.Fatal(err)
	}
	// A section that is linked to a file, in Word 2003 XML's predecessor: a field that includes text.
	content := `{\rtf1\ansi Begin {\field{\*\fldinst INCLUDETEXT "` + secret + `"}{\fldrslt old}} end.}`
	doc, err := nativetest.Extract(t, native.Extractors(nil, nil)[extract.DOC], extract.DOC, []byte(content),
		extract.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range doc.Blocks {
		if strings.Contains(b.Text, "xyzzy") {
			t.Errorf("%+v", b)
		}
	}
}

// Nothing is left of a conversion, also of one that is stopped.
func TestLeavesNothing(t *testing.T) {
	t.Parallel()
	needsOffice(t)
	dir := t.TempDir()
	path, err := filepath.Abs(samples + "dredger.doc")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	src := extract.Source{Path: path, Format: extract.DOC, TempDir: dir}
	_, err = native.Extractors(nil, nil)[extract.DOC].Extract(ctx, src, extract.Limits{}, func(extract.Block) error {
		cancel()
		return ctx.Err()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}
