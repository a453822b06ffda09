package mutants

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"testing"
)

// TestMutantsAreMadeAgain: the same seed gives the same mutants, and another seed gives others.
func TestMutantsAreMadeAgain(t *testing.T) {
	t.Parallel()
	seeds, err := Seeds()
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{
		"docx", "pptx", "xlsx", "odf", "epub", "html", "markdown", "csv", "text", "eml",
		"rtf", "image", "mbox", "msg", "zip", "xml", "doc", "xls", "ppt",
	} {
		if len(seeds[format]) == 0 {
			t.Errorf("there is no sample of %s", format)
			continue
		}
		differ := 0
		for n := range 10 {
			name, one := Mutant(format, seeds[format], 1, n)
			again, two := Mutant(format, seeds[format], 1, n)
			if name != again || !bytes.Equal(one, two) {
				t.Fatalf("mutant %d of %s differs from itself", n, format)
			}
			if len(one) > 2*sizeMax {
				t.Errorf("mutant %d of %s has %d bytes", n, format, len(one))
			}
			if _, other := Mutant(format, seeds[format], 2, n); !bytes.Equal(one, other) {
				differ++
			}
		}
		if differ < 5 {
			t.Errorf("only %d of 10 mutants of %s change with the seed", differ, format)
		}
	}
}

func TestBalance(t *testing.T) {
	t.Parallel()
	for _, content := range []string{
		"<a><b></a>", "</a>", "<a b=1 c='2' c=\"3\">&x;&amp;<", "<?xml version='7'?><!DOCTYPE a><a/>\x00<b",
		"<a></b></a><c>", "<a b='\"'/>",
	} {
		balanced := balance([]byte(content))
		d := xml.NewDecoder(bytes.NewReader(balanced))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Errorf("%q becomes %q: %v", content, balanced, err)
				break
			}
		}
	}
}
