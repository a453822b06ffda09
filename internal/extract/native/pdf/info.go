package pdf

import (
	"context"
	"io"
	"strconv"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/child"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/pattern"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// pdfInfo is pdfinfo's report about a document, or as much of it as declared returns.
type pdfInfo map[string]string

// maxInfo limits the output of pdfinfo that is read, in bytes.
const maxInfo = 256 << 10

// info returns what is known about the document, from its objects or from pdfinfo. Its error states why the document
// can't be read at all.
func (p poppler) info(ctx context.Context) (pdfInfo, error) {
	if found := p.drawn.declared(ctx); found != nil {
		return found, nil
	}
	return p.pdfinfo(ctx)
}

func (p poppler) pdfinfo(ctx context.Context) (pdfInfo, error) {
	var text []byte
	result, err := p.run(ctx, "pdfinfo", func(r io.Reader) (err error) {
		text, err = io.ReadAll(io.LimitReader(r, maxInfo))
		return err
	}, "-isodates", "-enc", "UTF-8", p.path)
	switch {
	case err != nil:
		return nil, err
	case result.OK():
		return parseInfo(string(text)), nil
	case strings.Contains(result.Stderr, "Incorrect password"):
		return nil, taskerr.PasswordProtected("the PDF")
	case strings.Contains(result.Stderr, "encrypt"), strings.Contains(result.Stderr, "security handler"):
		return nil, taskerr.Errorf(taskerr.CorruptionDetected,
			"the PDF is encrypted in a way that can't be read; save it without protection, and send it under a new "+
				"task_id or with hints.force")
	}
	return nil, unreadable(result)
}

// unreadable returns the error of a document of which nothing can be read.
func unreadable(r child.Result) error {
	switch r.End {
	case child.WaitLimit, child.CPULimit, child.Idle:
		return taskerr.Errorf(taskerr.CorruptionDetected,
			"the PDF takes too long to read; it may be damaged, or made to stall its readers")
	case child.MemoryLimit:
		return taskerr.Errorf(taskerr.CorruptionDetected,
			"the PDF takes too much memory to read; it may be damaged, or made to exhaust its readers")
	case child.OutputLimit:
		return taskerr.Errorf(taskerr.QuotaExceeded, "the PDF unpacks to more text than the worker reads: split it into smaller files")
	}
	return taskerr.Errorf(taskerr.CorruptionDetected,
		"the PDF is damaged: no page of it can be read; open and save it again with the program that made it")
}

var aboutLine = pattern.New(`^([A-Z][A-Za-z ]*):\s+(.*)$`)

func parseInfo(text string) pdfInfo {
	a := pdfInfo{}
	for line := range strings.Lines(text) {
		m := aboutLine.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if m == nil {
			continue
		}
		if _, twice := a[m[1]]; !twice {
			a[m[1]] = normalizeText(m[2])
		}
	}
	return a
}

func normalizeText(s string) string {
	words := strings.Fields(strings.ToValidUTF8(s, ""))
	for i, w := range words {
		words[i] = normalize(w)
	}
	return strings.Join(words, " ")
}

// pages returns the number of pages that the document declares.
func (a pdfInfo) pages() int {
	n, err := strconv.Atoi(a["Pages"])
	if err != nil {
		return 0
	}
	return n
}

// document returns the extract.Info of the report.
func (a pdfInfo) document() extract.Info {
	in := extract.Info{
		Format: extract.PDF, Extractor: name, Title: extract.StatedTitle(a["Title"]), Pages: a.pages(),
		Properties: map[string]string{},
	}
	for key, from := range map[string]string{
		"author": "Author", "subject": "Subject", "keywords": "Keywords",
		"created": "CreationDate", "modified": "ModDate", "creator": "Creator", "producer": "Producer",
	} {
		if v := a[from]; v != "" {
			in.Properties[key] = v
		}
	}
	return in
}
