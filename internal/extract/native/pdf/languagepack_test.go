package pdf_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tableless is a file without its table, about which pdfinfo is asked.
func tableless(pdf []byte) []byte {
	return bytes.Replace(pdf, []byte("startxref"), []byte("startyref"), 1)
}

// Any of poppler's programs may say that it lacks tables of characters; the result warns about it, once.
func TestMissingLanguagePackIsAWarning(t *testing.T) {
	for _, program := range []string{"pdfinfo", "pdftotext", "pdftohtml"} {
		t.Run(program, func(t *testing.T) {
			bin := t.TempDir()
			path, err := exec.LookPath(program)
			if err != nil {
				t.Skip(program + " is not installed")
			}
			script := fmt.Sprintf("#!/bin/sh\nfor i in 1 2 3; do\n"+
				"echo \"Syntax Error: Missing language pack for 'Adobe-GB1' mapping\" >&2\ndone\nexec %s \"$@\"\n", path)
			if err := os.WriteFile(filepath.Join(bin, program), []byte(script), 0o700); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
			content := (&maker{}).page().text(72, 80, light, 10, "A page of text.").bytes()
			if program == "pdfinfo" {
				content = tableless(content)
			}
			file := filepath.Join(t.TempDir(), "x.pdf")
			if err := os.WriteFile(file, content, 0o600); err != nil {
				t.Fatal(err)
			}
			doc, err := collect(t, file)
			if err != nil || len(doc.Blocks) != 1 {
				t.Fatalf("%+v %v", doc, err)
			}
			about := slices.DeleteFunc(slices.Clone(doc.Warnings), func(w string) bool {
				return !strings.Contains(w, "Adobe-GB1") || !strings.Contains(w, "install poppler-data, and send the document again with hints.force")
			})
			if len(about) != 1 {
				t.Errorf("warnings: %q", doc.Warnings)
			}
		})
	}
}
