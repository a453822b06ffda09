package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/test/reindex"
)

const (
	// peerBooks and peerParts are the size of the corpus that is made where no other is at hand: PDFs, and their chapters
	// of about four pages.
	peerBooks, peerParts = 8, 4
	// peerText is the least number of bytes of text in a PDF that no peer would have to read by OCR.
	peerText = 100
)

// collect copies the documents that all can read into one folder: PDFs with text, Word, HTML, Markdown and CSV.
func (b *peerBench) collect(ctx context.Context, root string) error {
	b.documents = filepath.Join(b.folder, "documents")
	if err := os.Mkdir(b.documents, 0o700); err != nil {
		return err
	}
	if b.corpus == "" {
		b.corpus = filepath.Join(root, ingestCorpus)
		if _, err := os.Stat(b.corpus); err != nil {
			b.corpus = filepath.Join(root, "dev", "samples")
			if err := makeBooks(b.documents); err != nil {
				return err
			}
		}
	}
	entries, err := os.ReadDir(b.corpus)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := b.copyIn(ctx, e.Name()); err != nil {
			return err
		}
	}
	if entries, err = os.ReadDir(b.documents); err != nil {
		return err
	}
	for _, e := range entries {
		b.files = append(b.files, e.Name())
	}
	if len(b.pdfs()) == 0 {
		return fmt.Errorf("%s has no PDF with text", b.corpus)
	}
	return nil
}

func (b *peerBench) copyIn(ctx context.Context, name string) error {
	from := filepath.Join(b.corpus, name)
	switch filepath.Ext(name) {
	case ".pdf":
		text, err := exec.CommandContext(ctx, "pdftotext", "-q", from, "-").Output()
		if err != nil || len(strings.TrimSpace(string(text))) < peerText {
			return cmp.Or(ctx.Err(), nil)
		}
	case ".docx", ".html", ".md", ".csv":
	default:
		return nil
	}
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(b.documents, name), content, 0o600)
}

func makeBooks(folder string) error {
	var all error
	for i := range peerBooks {
		book := reindex.NewBookOf(uint64(i), peerParts)
		all = errors.Join(all, os.WriteFile(filepath.Join(folder, fmt.Sprintf("book-%d.pdf", i)), book.PDF(""), 0o600))
	}
	return all
}

// pdfs are the names of the PDFs.
func (b *peerBench) pdfs() []string {
	return slices.DeleteFunc(slices.Clone(b.files), func(name string) bool { return filepath.Ext(name) != ".pdf" })
}

// texts writes rows of text as files, which the worker ingests and the peer gets as rows.
func (b *peerBench) texts() (folder string, files []string, err error) {
	folder = filepath.Join(b.folder, "texts")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return "", nil, err
	}
	for i := range b.rows {
		name := fmt.Sprintf("row-%04d.md", i)
		text := reindex.NewBookOf(uint64(1000+i), 1).Markdown()
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			return "", nil, err
		}
		files = append(files, name)
	}
	return folder, files, nil
}
