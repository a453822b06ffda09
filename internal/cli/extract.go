package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/logging"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func (p *program) newExtractCommand() *cobra.Command {
	var out format
	var name string
	var estimate bool
	const groups = config.Extract
	cmd := &cobra.Command{
		Use: "extract FILE", Short: "Print the text of a local file as Markdown, as ingest extracts it",
		Long: `extract reads a local document exactly as ingest does. It prints Markdown, or with -o json the blocks
with page, box and heading level. It needs no service, except docling-serve if the settings name one. FILE may
be - for standard input; --name then gives the document's name, for formats that the content doesn't reveal.

With --estimate it prints in place of the text what the ingest of the document would take of the models: chunks and
tokens to embed, and the requests and tokens of CONTEXT_MODE=model, if nothing of it is known yet.`,
		Example: `  async-worker extract report.pdf
  curl -s https://example.com/notes.md | async-worker extract - --name notes.md
  async-worker extract report.docx -o json | jq '.blocks[] | select(.kind == "table")'
  async-worker extract report.pdf --estimate --context-mode model`,
		Args: oneArg("a FILE"),
		RunE: p.action(func(cmd *cobra.Command, args []string) error {
			cfg, _, err := p.settings(cmd, groups)
			if err != nil {
				return err
			}
			cmd.SetContext(p.patient(cmd.Context()))
			if args[0] != "-" {
				return p.extract(cmd, extraction{cfg, out, estimate, args[0], cmp.Or(name, args[0])})
			}
			path, remove, err := p.takeInput(cmd.Context(), cfg.MaxBlobBytes)
			if err != nil {
				return err
			}
			defer remove()
			return p.extract(cmd, extraction{cfg, out, estimate, path, cmp.Or(name, "stdin")})
		}),
	}
	cmd.Flags().StringVar(&name, "name", "", "the document's name, e.g. notes.md; default: the FILE's name")
	cmd.Flags().BoolVar(&estimate, "estimate", false, "print what the ingest would take of the models, not the text")
	addOutput(cmd, &out)
	addSettings(cmd, groups)
	return cmd
}

// extraction is what extract is to do.
type extraction struct {
	cfg      config.Config
	out      format
	estimate bool
	file     string // on this machine
	path     string // as the user knows it
}

// nextExtract is what to do about an unreadable document, unless the error itself says it.
func nextExtract(err error) string {
	e, ok := errors.AsType[*taskerr.Error](err)
	if ok && e.Dependency == taskerr.Docling { // no fault of the document
		return e.Hint
	}
	if ok && (e.Class != taskerr.UnsupportedFormat || e.Suffix != "" || strings.Contains(e.Message, "what can be read is")) {
		return "" // the error says it
	}
	return "async-worker extract reads PDF, DOCX, PPTX, XLSX, OpenDocument, RTF, EPUB, HTML, XML, Markdown, CSV, e-mail, " +
		"zip archives, images and plain text, and with LibreOffice other office documents"
}

// takeInput copies standard input to a file, which remove deletes.
func (p *program) takeInput(ctx context.Context, most int64) (path string, remove func(), err error) {
	// By default the end of a reader such as head ends this process at once, and the document's copy would stay.
	signal.Ignore(syscall.SIGPIPE)
	f, err := os.CreateTemp("", "async-worker-extract-")
	if err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.Remove(f.Name()) } // a temporary file
	var n int64
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		n, err = io.Copy(f, io.LimitReader(p.stdin, most+1))
	}()
	select {
	case <-copied:
	case <-ctx.Done(): // the read can't be interrupted; it ends with the process
		remove()
		return "", nil, ctx.Err()
	}
	err = errors.Join(err, f.Close())
	const next = "pipe a document into it, or name a file"
	switch {
	case errors.Is(err, syscall.EISDIR):
		err = badUsage(next, "the standard input is a directory")
	case err != nil:
		err = fmt.Errorf("read the standard input: %w", err)
	case n == 0:
		err = badUsage(next, "the standard input is empty")
	case n > most:
		err = &failure{"read the standard input", "raise MAX_BLOB_MB", fmt.Errorf("it is longer than %d MiB", most>>20)}
	default:
		return f.Name(), remove, nil
	}
	remove()
	return "", nil, err
}

func (p *program) extract(cmd *cobra.Command, e extraction) error {
	cfg, path := e.cfg, e.path
	src, err := extract.Open(e.file, filepath.Base(path))
	if err != nil {
		return fileError("open", path, err)
	}
	limits := extract.DefaultLimits
	limits.Bytes = cfg.MaxBlobBytes
	// no OCR: unread_pages counts scans
	router := app.ExtractorsOf(cmd.Context(), cfg.StepTimeout, cfg.ParserMemory)
	if cfg.Extractor != config.ExtractorNative {
		client, err := app.DoclingClient(cfg, cfg.CacheDir, slog.New(slog.DiscardHandler))
		if err != nil {
			return &failure{"extract " + path, "async-worker check-config shows what is wrong", err}
		}
		defer client.CloseIdle()
		router = app.WithDocling(router, cfg, client, nil, slog.New(slog.DiscardHandler))
	}
	if e.estimate {
		return p.estimate(cmd.Context(), e, router, src, limits)
	}
	if e.out == asJSON {
		doc, err := extract.Collect(cmd.Context(), router, src, limits)
		if err != nil {
			return &failure{"extract " + path, nextExtract(err), err}
		}
		return extract.WriteJSON(logging.Escaped(p.stdout), doc)
	}
	md := extract.NewMarkdownWriter(p.stdout)
	info, err := router.Extract(cmd.Context(), src, limits, md.Write)
	if err = errors.Join(err, md.Close()); err != nil {
		return &failure{"extract " + path, nextExtract(err), err}
	}
	p.warnOf(path, append(info.Warnings, info.Unread()))
	if p.terminal(p.stdout) {
		fmt.Fprintf(p.stderr, "\n%s: %s by %s, %d pages, %d characters\n", path, info.Format, info.Extractor,
			info.Pages, info.Characters)
	}
	return nil
}

// warnOf prints the warnings about a document.
func (p *program) warnOf(path string, warnings []string) {
	for _, warning := range warnings {
		if warning != "" {
			fmt.Fprintln(p.stderr, printable(path+": "+warning))
		}
	}
}
