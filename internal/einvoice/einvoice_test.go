package einvoice_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/einvoice"
	"github.com/seed-7227ef26/async-worker/internal/einvoice/einvoicetest"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// find looks into a PDF, and returns what is found, and the folder.
func find(t *testing.T, o einvoice.Options, content []byte) (*einvoice.Invoice, error) {
	t.Helper()
	if _, err := exec.LookPath("pdfdetach"); err != nil {
		t.Skip("pdfdetach is not installed: apt install poppler-utils")
	}
	path := filepath.Join(t.TempDir(), "in.pdf")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	o.Dir = t.TempDir()
	return einvoice.Find(t.Context(), path, o)
}

func TestFind(t *testing.T) {
	t.Parallel()
	type file = einvoicetest.File
	for name, x := range map[string]struct {
		files    []file
		standard string
	}{
		"no file":      {},
		"another file": {[]file{{Name: "report.xml", Content: "<a/>"}}, ""},
		"factur-x":     {[]file{{Name: "report.xml", Content: "<a/>"}, {Name: "factur-x.xml", Content: einvoicetest.CII}}, "factur-x"},
		"zugferd":      {[]file{{Name: "ZUGFeRD-invoice.xml", Content: einvoicetest.CII}}, "zugferd"},
		"xrechnung":    {[]file{{Name: "xrechnung.xml", Content: einvoicetest.CII}}, "xrechnung"},
		"the newest":   {[]file{{Name: "ZUGFeRD-invoice.xml", Content: "<old/>"}, {Name: "factur-x.xml", Content: einvoicetest.CII}}, "factur-x"},
	} {
		got, err := find(t, einvoice.Options{}, einvoicetest.PDF([]string{"An invoice"}, x.files...))
		switch {
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case x.standard == "" && got != nil:
			t.Errorf("%s: found %+v", name, got)
		case x.standard == "":
		case got == nil || got.Standard != x.standard:
			t.Errorf("%s: found %+v", name, got)
		default:
			content, err := os.ReadFile(got.Path)
			if err != nil || string(content) != einvoicetest.CII || got.Bytes != int64(len(content)) || len(got.SHA256) != 64 {
				t.Errorf("%s: %+v, %v: %s", name, got, err, content)
			}
		}
	}
}

// TestBad: XML that can't be used is an error that quotes none of it.
func TestBad(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct{ content, says string }{
		"malformed": {"<a><secret></a>", "well-formed"}, "empty": {"", "empty"},
		"entities": {`<!DOCTYPE a [<!ENTITY secret "x">]><a>&secret;</a>`, "DOCTYPE"},
		"large":    {"<a>" + strings.Repeat("<secret/>", 200_000) + "</a>", "larger than 1 MB"},
	} {
		pdf := einvoicetest.PDF([]string{"x"}, einvoicetest.File{Name: "factur-x.xml", Content: x.content})
		_, err := find(t, einvoice.Options{MaxBytes: 1 << 20}, pdf)
		e, ok := errors.AsType[*taskerr.Error](err)
		if !ok || e.Class != taskerr.CorruptionDetected || !strings.Contains(e.Message, x.says) ||
			strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := find(t, einvoice.Options{}, []byte("%PDF-1.7 and no more")); err == nil ||
		taskerr.Classify(err).Class != taskerr.CorruptionDetected {
		t.Errorf("a broken PDF: %v", err)
	}
}

// TestProtected: a PDF that can't be opened without a password is told from a damaged one.
func TestProtected(t *testing.T) {
	t.Parallel()
	_, err := find(t, einvoice.Options{}, einvoicetest.Protected([]string{"An invoice"}))
	if e := taskerr.Classify(err); e.Class != taskerr.UnsupportedFormat || e.Suffix != "PASSWORD_PROTECTED" {
		t.Errorf("%v", err)
	}
}

// That the kernel kills the program for memory says nothing about the document, neither before its list nor within the XML.
func TestKilledForMemory(t *testing.T) {
	detach, err := exec.LookPath("pdfdetach")
	if err != nil {
		t.Skip("pdfdetach is not installed: apt install poppler-utils")
	}
	content := einvoicetest.PDF([]string{"An invoice"}, einvoicetest.File{Name: "factur-x.xml", Content: einvoicetest.CII})
	bin := t.TempDir()
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	for name, script := range map[string]string{
		"the list": "kill -KILL $$",
		"the XML":  `if [ "$1" = -list ]; then exec ` + detach + ` "$@"; fi; echo "<half"; kill -KILL $$`,
	} {
		killed := filepath.Join(bin, "pdfdetach")
		if err := os.WriteFile(killed, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		_, err := find(t, einvoice.Options{}, content)
		if err == nil || !taskerr.Exhausted(err) || taskerr.Classify(err).Class != taskerr.TransientStorage {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.Remove(killed); err != nil {
			t.Fatal(err)
		}
		if got, err := find(t, einvoice.Options{}, content); err != nil || got == nil || got.Bytes != int64(len(einvoicetest.CII)) {
			t.Errorf("%s, the next attempt: %+v %v", name, got, err)
		}
	}
}
