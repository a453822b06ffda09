package scan_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf"
	"github.com/seed-7227ef26/async-worker/internal/extract/scan"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/ocr/ocrtest"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// What the machine lacks is not a reason to leave a page unread: the document would be indexed without it.
func TestMachineThatLacksSomething(t *testing.T) {
	t.Parallel()
	lacking := engine(func(context.Context, ocr.Image) (ocr.Page, error) {
		return ocr.Page{}, fmt.Errorf("run tesseract: %w", &os.PathError{Op: "fork/exec", Path: "/bin/sh", Err: syscall.EAGAIN})
	})
	path := ocrtest.Write(t, written("It"), scanned(t, 0, "Some scanned page"))
	_, ofPDF := extractFile(t.Context(), t, scan.New(pdf.New(), lacking, unhurried), path)
	_, ofImage := nativetest.Extract(t, scan.NewImages(lacking, unhurried), extract.Image, pngOf(t, corner()), extract.Limits{})
	for name, err := range map[string]error{"a PDF": ofPDF, "an image": ofImage} {
		if e, ok := errors.AsType[*taskerr.Error](err); !ok || e.Class != taskerr.TransientStorage {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// openFiles is the variable with how many files the process of TestFewOpenFiles may open; document is what it reads.
const openFiles, document = "TEST_OPEN_FILES", "TEST_DOCUMENT"

// However few files a worker may open, what it reads of a document is all of it, or an error that another attempt may
// not meet.
func TestFewOpenFiles(t *testing.T) {
	if n := os.Getenv(openFiles); n != "" {
		readWith(t, n, os.Getenv(document))
		return
	}
	t.Parallel()
	path := ocrtest.Write(t, written("It"), scanned(t, 0, "Some scanned page"))
	read := func(n int) (answer, output string) {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFewOpenFiles$", "-test.v")
		cmd.Env = append(os.Environ(), openFiles+"="+strconv.Itoa(n), document+"="+path)
		out, err := cmd.CombinedOutput()
		_, answer, ok := strings.Cut(string(out), "ANSWER ")
		if !ok {
			t.Fatalf("with %d files: %v: %s", n, err, out)
		}
		answer, _, _ = strings.Cut(answer, "\n")
		return answer, string(out)
	}
	whole, _ := read(256)
	if !strings.Contains(whole, "It is told") || !strings.Contains(whole, "2 read") {
		t.Fatalf("with enough files: %s", whole)
	}
	failed := 0
	for n := 10; n <= 34; n += 2 {
		switch answer, out := read(n); answer {
		case whole:
		case string(taskerr.TransientStorage):
			failed++
		default:
			t.Errorf("with %d files: %s", n, out)
		}
	}
	if failed == 0 {
		t.Error("there were always enough files: the test shows nothing")
	}
}

// readWith prints what is read of a document with so few open files.
func readWith(t *testing.T, files, path string) {
	t.Helper()
	n, err := strconv.ParseUint(files, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	src, err := extract.Open(path, "x.pdf")
	if err != nil {
		t.Fatal(err)
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	limit.Cur = n
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	router := extract.NewRouter(map[extract.Format]extract.Extractor{extract.PDF: scan.New(pdf.New(), reads("read"), unhurried)})
	doc, err := extract.Collect(t.Context(), router, src, extract.Limits{})
	if err != nil {
		fmt.Printf("ANSWER %s\nbecause of %v\n", taskerr.Classify(err).Class, err)
		return
	}
	fmt.Printf("ANSWER %q %v\n", outline(doc), doc.Warnings)
}
