// Package einvoice finds the XML that electronic invoices carry within their PDF: Factur-X, ZUGFeRD, XRechnung. The
// standards fix the name of the file, so it is found by its name (Factur-X 1.0.07, section 6.2.2; ZUGFeRD 1.0, technical
// part; ISO 32000-2, 7.11.4).
package einvoice

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/child"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/internal/wellformed"
)

// Invoice is the XML in a PDF.
type Invoice struct {
	Standard string // factur-x, zugferd, xrechnung or order-x
	Name     string // of the file in the PDF
	Path     string // of the copy
	Bytes    int64
	SHA256   string // in hex
}

// standards are the names of the files, in lower case, the newest standard first.
var standards = []struct{ name, standard string }{
	{"factur-x.xml", "factur-x"},
	{"xrechnung.xml", "xrechnung"},
	{"zugferd-invoice.xml", "zugferd"},
	{"order-x.xml", "order-x"},
}

// Options say where to write, and the limits.
type Options struct {
	Dir      string      // a private folder for the copy, and for poppler
	Pool     *child.Pool // nil: memory is unlimited
	MaxBytes int64       // of the XML; zero: DefaultMaxBytes
}

// DefaultMaxBytes is the default of Options.MaxBytes.
const DefaultMaxBytes = 32 << 20

const (
	program       = "pdfdetach"
	debianPackage = "poppler-utils"
	memory        = 96 << 20 // of poppler, as for the text of pages
	maxList       = 1 << 20  // bytes of its list of files
)

// Find copies the invoice's XML out of a PDF; nil: it has none. XML that is not well-formed or too large is an error of
// the class corruption_detected, as is a PDF that can't be read; one with a password is taskerr.PasswordProtected, a missing
// program a *child.NotInstalledError.
func Find(ctx context.Context, path string, o Options) (*Invoice, error) {
	if o.MaxBytes <= 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find the PDF: %w", err)
	}
	var list []byte
	result, err := o.run(ctx, path, func(r io.Reader) (err error) {
		list, err = io.ReadAll(io.LimitReader(r, maxList))
		return err
	}, "-list", "-enc", "UTF-8", path)
	if err != nil {
		return nil, err
	}
	if strings.Contains(result.Stderr, "Incorrect password") {
		return nil, taskerr.PasswordProtected("the PDF")
	}
	if !result.OK() {
		return nil, taskerr.Errorf(taskerr.CorruptionDetected, "the files in the PDF can't be listed (%s)", result.End)
	}
	number, found := choose(string(list))
	if found == nil {
		return nil, nil
	}
	return found, o.save(ctx, path, number, found)
}

func (o Options) run(
	ctx context.Context, path string, read func(io.Reader) error, args ...string,
) (child.Result, error) {
	return o.Pool.Run(ctx, func() child.Command {
		return child.Command{
			Program: program, Package: debianPackage, Args: args, Files: []string{path}, Dir: o.Dir, Stdout: read,
			Limits: child.Limits{Memory: memory, File: 1 << 20},
		}
	})
}

// choose returns the number and the name of the invoice in pdfdetach's list: after a line with the number of files,
// "1: factur-x.xml" and so on.
func choose(list string) (number int, found *Invoice) {
	best := len(standards)
	head, list, _ := strings.Cut(list, "\n")
	count, _, _ := strings.Cut(head, " ")
	files, _ := strconv.Atoi(count) // 0 without a list
	seen := 0
	for line := range strings.Lines(list) {
		text, name, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ": ")
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if !ok || err != nil || n != seen+1 || n > files { // the rest of a name with a line break
			continue
		}
		seen = n
		for i, s := range standards[:best] {
			if strings.EqualFold(name, s.name) {
				best, number, found = i, n, &Invoice{Standard: s.standard, Name: s.name}
				break
			}
		}
	}
	return number, found
}

var errTooLarge = errors.New("the XML is too large")

// save writes the file to the disk and checks it on the way.
func (o Options) save(ctx context.Context, path string, number int, found *Invoice) error {
	found.Path = filepath.Join(o.Dir, "embedded.xml")
	result, err := o.run(ctx, path, func(r io.Reader) error { return found.copy(r, o.MaxBytes) },
		"-save", strconv.Itoa(number), "-o", "/dev/stdout", path)
	broken, isBroken := errors.AsType[*wellformed.Error](err)
	switch {
	case isBroken:
		return taskerr.Errorf(taskerr.CorruptionDetected, "the XML in the PDF, %s, can't be used: %s", found.Name, broken)
	case errors.Is(err, wellformed.ErrEmpty):
		return taskerr.Errorf(taskerr.CorruptionDetected, "the XML in the PDF, %s, is empty", found.Name)
	case errors.Is(err, errTooLarge):
		return taskerr.Errorf(taskerr.CorruptionDetected, "the XML in the PDF, %s, is larger than %d MB", found.Name,
			o.MaxBytes>>20)
	case err != nil:
		return err
	case !result.OK():
		return taskerr.Errorf(taskerr.CorruptionDetected, "the XML in the PDF, %s, can't be read (%s)", found.Name,
			result.End)
	}
	return nil
}

// copy may run twice: a program that needs more memory is run again.
func (v *Invoice) copy(r io.Reader, limit int64) error {
	file, err := os.OpenFile(v.Path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("make a file for the XML in the PDF: %w", err)
	}
	w, sum := bufio.NewWriter(file), sha256.New()
	limited := &io.LimitedReader{R: r, N: limit + 1}
	err = wellformed.XML(io.TeeReader(limited, io.MultiWriter(w, sum)), wellformed.Limits{})
	if limited.N == 0 {
		err = errTooLarge
	}
	v.Bytes, v.SHA256 = limit+1-limited.N, hex.EncodeToString(sum.Sum(nil))
	if err == nil {
		err = w.Flush()
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	return err
}
