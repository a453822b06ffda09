package pdf_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// A program that the kernel kills for memory is no reason to leave anything of a document out, or to call it damaged: the
// attempt fails as the machine's, and the next one has all of the text.
func TestKilledForMemory(t *testing.T) {
	for _, program := range []string{"pdfinfo", "pdftotext", "pdftohtml"} {
		t.Run(program, func(t *testing.T) {
			bin := t.TempDir()
			killed := filepath.Join(bin, program)
			if err := os.WriteFile(killed, []byte("#!/bin/sh\nkill -KILL $$\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
			m := &maker{}
			for range 3 {
				m.page().text(72, 80, light, 10, "A page of text.")
			}
			content := m.bytes()
			if program == "pdfinfo" {
				content = tableless(content)
			}
			file := filepath.Join(t.TempDir(), "x.pdf")
			if err := os.WriteFile(file, content, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := collect(t, file)
			if err == nil || !taskerr.Exhausted(err) || taskerr.Classify(err).Class != taskerr.TransientStorage {
				t.Errorf("killed: %v", err)
			}
			if err := os.Remove(killed); err != nil {
				t.Fatal(err)
			}
			doc, err := collect(t, file)
			if err != nil || len(doc.Blocks) != 3 || doc.Properties["pages_unreadable"] != "" {
				t.Errorf("the next attempt: %+v %v", doc, err)
			}
		})
	}
}

// A machine without poppler is no fault of the document, and of no machine beside it: the attempt is repeated.
func TestMissingPrograms(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.pdf")
	m := &maker{}
	m.page().text(72, 80, light, 10, "A page of text.")
	if err := os.WriteFile(file, m.bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", t.TempDir())
	_, err := collect(t, file)
	missing, ok := errors.AsType[*taskerr.Error](err)
	if !ok || missing.Class != taskerr.DependencyUnavailable || !strings.Contains(missing.Hint, "poppler-utils") {
		t.Errorf("without poppler: %v", err)
	}
}
