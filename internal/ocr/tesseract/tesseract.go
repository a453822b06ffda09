// Package tesseract reads pages with the tesseract program (Debian: tesseract-ocr, version 4 or later),
// which runs in a limited child process for each page. Nothing of a page is written to disk.
package tesseract

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/child"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const (
	program       = "tesseract"
	debianPackage = "tesseract-ocr"
)

// Options of an Engine. The zero value is fit for use.
type Options struct {
	// Languages to read, by the names of tesseract's data files, e.g. "eng", "deu". Each one more costs
	// time. Default: those that are installed, English first, as long as they are at most maxLanguages;
	// more are not a deliberate choice, and English is read alone.
	Languages []string
	// Memory is what one run may take, in bytes. Default 2 GiB.
	Memory int64
	// Pool is the memory that its runs share with other programs, each as much as its image needs. Nil: each has
	// Memory.
	Pool *child.Pool
	// TempDir is where the program's empty working folder is made. Default os.TempDir().
	TempDir string
}

// maxLanguages is how many installed languages are read together.
const maxLanguages = 4

// Engine reads with tesseract.
type Engine struct {
	opts      Options
	version   string
	languages []string
	installed []string
	osd       bool // the data for detecting orientation are installed
	side      int  // requested by the task; zero: pages are rendered in defaultDPI
}

// defaultDPI is the resolution that tesseract is made for; a finer image costs time and gains nothing.
const defaultDPI = 300

var _ ocr.Engine = (*Engine)(nil)

// Open asks the program for its version and languages. The error is an *ocr.UnavailableError when
// nothing can be read with it: it is not installed, or without data for the languages.
func Open(ctx context.Context, opts Options) (*Engine, error) {
	e := &Engine{opts: opts}
	about, err := e.ask(ctx, "--version")
	if err != nil {
		return nil, err
	}
	e.version = "unknown"
	if m := regexp.MustCompile(`tesseract v?(\d\S*)`).FindStringSubmatch(about); m != nil {
		e.version = m[1]
	}
	list, err := e.ask(ctx, "--list-langs")
	if err != nil {
		return nil, err
	}
	e.installed = parseLanguages(list)
	e.osd = slices.Contains(e.installed, "osd")
	e.languages, err = choose(opts.Languages, e.installed)
	return e, err
}

// Name is "tesseract".
func (e *Engine) Name() string { return program }

// Version is the program's.
func (e *Engine) Version() string { return e.version }

// Languages are those that are read.
func (e *Engine) Languages() []string { return slices.Clone(e.languages) }

// Abilities implements ocr.Engine.
func (e *Engine) Abilities() ocr.Abilities {
	return ocr.Abilities{Boxes: true, Confidence: true, Rotation: true, DPI: defaultDPI, Side: e.side}
}

// For implements ocr.Engine.
func (e *Engine) For(w ocr.Wish) (ocr.Engine, error) {
	mine := *e
	if len(w.Languages) > 0 {
		known := readable(e.installed)
		for _, l := range w.Languages {
			if !slices.Contains(known, l) {
				return nil, taskerr.Errorf(taskerr.ValidationError,
					"the language %q can't be read; tesseract has data for %s (codes as ISO 639-2, e.g. eng, deu)", l,
					strings.Join(known, ", "))
			}
		}
		mine.languages = slices.Clone(w.Languages)
	}
	mine.side = w.Side()
	return &mine, nil
}

// ask runs the program for something about itself.
func (e *Engine) ask(ctx context.Context, question string) (string, error) {
	var out []byte
	result, err := e.run(ctx, 0, func() io.Reader { return nil }, func(r io.Reader) (err error) {
		out, err = io.ReadAll(io.LimitReader(r, 64<<10))
		return err
	}, question)
	switch {
	case err != nil:
		return "", err
	case !result.OK():
		cause := failure(result)
		return "", &ocr.UnavailableError{
			Reason: "tesseract does not run on this machine: " + cause.Error(), Cause: cause,
		}
	}
	return string(out), nil
}

// run runs the program on an image of so many pixels, once more when it needs more memory. in is called before each
// run; out then begins again.
func (e *Engine) run(
	ctx context.Context, pixels int, in func() io.Reader, out func(io.Reader) error, args ...string,
) (child.Result, error) {
	memory := e.opts.Memory
	if e.opts.Pool != nil {
		memory = leastMemory + ofPixel*int64(pixels) + ofLanguage*int64(len(e.languages))
	}
	result, err := e.opts.Pool.Run(ctx, func() child.Command {
		return child.Command{
			Program: program, Package: debianPackage, Args: args, Dir: e.opts.TempDir, Stdin: in(), Stdout: out,
			Env: []string{"OMP_THREAD_LIMIT=1"}, // runs side by side would fight over the processors
			Limits: child.Limits{
				Wait: runTime, CPU: runTime, Memory: memory,
				Output: maxOutput, File: 1 << 20, // it writes to its standard output only
			},
		}
	})
	if missing, ok := errors.AsType[*child.NotInstalledError](err); ok {
		return result, &ocr.UnavailableError{Reason: missing.Error(), Cause: err}
	}
	return result, err
}

// What a run has of the pool, in bytes. A page of 8.7 million pixels makes tesseract take 62 MiB, 78 when it looks how
// the page lies, one of 20 million 118.
const (
	leastMemory = 48 << 20
	ofPixel     = 6
	ofLanguage  = 16 << 20
)

const (
	// runTime is the longest that one run may take whatever its context says.
	runTime = 10 * time.Minute
	// maxOutput is in bytes; a page full of small print has less than one megabyte.
	maxOutput = 64 << 20
)

// failure says how a run failed. What tesseract complains about holds nothing of the page.
func failure(r child.Result) error {
	if r.End != child.Exited {
		return fmt.Errorf("tesseract ended by %s", r.End)
	}
	complaint, _, _ := strings.Cut(r.Stderr, "\n")
	return fmt.Errorf("tesseract failed with status %d: %.200s", r.ExitCode, complaint)
}

var languageLine = regexp.MustCompile(`^[a-z]{3}(_[A-Za-z]+)*$`)

// parseLanguages reads what --list-langs prints; scripts and folders of data are left out.
func parseLanguages(list string) []string {
	var names []string
	for line := range strings.Lines(list) {
		if line = strings.TrimSpace(line); languageLine.MatchString(line) {
			names = append(names, line)
		}
	}
	return names
}

// choose decides what to read of what is installed.
func choose(wanted, installed []string) ([]string, error) {
	for _, l := range wanted {
		if !slices.Contains(installed, l) {
			return nil, &ocr.UnavailableError{
				Reason: fmt.Sprintf("tesseract has no data for the language %q; install %s-%s", l, debianPackage,
					strings.ReplaceAll(l, "_", "-")),
			}
		}
	}
	if len(wanted) > 0 {
		return slices.Clone(wanted), nil
	}
	languages := readable(installed)
	if at := slices.Index(languages, "eng"); at >= 0 {
		languages = slices.Insert(slices.Delete(languages, at, at+1), 0, "eng")
	}
	switch {
	case len(languages) == 0:
		return nil, &ocr.UnavailableError{
			Reason: "tesseract has no data for any language; install " + debianPackage + "-eng",
		}
	case len(languages) > maxLanguages:
		return languages[:1], nil
	}
	return languages, nil
}

// readable lists the installed languages, sorted.
func readable(installed []string) []string {
	languages := slices.DeleteFunc(slices.Clone(installed), func(l string) bool {
		return l == "osd" || l == "equ" // orientation and formulas, not languages
	})
	slices.Sort(languages)
	return languages
}
