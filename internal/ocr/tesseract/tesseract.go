// Package tesseract reads pages with the tesseract program (Debian: tesseract-ocr, version 4 or later), which
// runs in a limited child process for each page. No page is written to disk.
package tesseract

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/child"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/pattern"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const (
	program       = "tesseract"
	debianPackage = "tesseract-ocr"
	// thenRestart ends what to do: a worker looks for the program and its languages when it starts.
	thenRestart = ", then restart the worker"
)

// Options of an Engine. The zero value is ready to use.
type Options struct {
	// Languages to read, named as tesseract's data files, for example "eng", "deu". Each additional one costs
	// time. Default: the installed ones, English first, if they are at most maxLanguages; more are not a
	// deliberate choice, so only English is read.
	Languages []string
	// Memory is the limit of one run, in bytes. Default 2 GiB.
	Memory int64
	// Pool is the memory that its runs share with other programs, each as much as its image needs. Nil: each
	// run has Memory.
	Pool *child.Pool
	// TempDir is for the program's empty working folder. Default os.TempDir().
	TempDir string
}

// maxLanguages is how many installed languages are read together by default.
const maxLanguages = 4

// Engine reads with tesseract.
type Engine struct {
	opts      Options
	version   func() string
	languages []string
	installed []string
	osd       bool // the data for detecting the orientation are installed
	side      int  // requested by the task; zero: pages are rendered at defaultDPI
}

// defaultDPI is the resolution that tesseract is made for; a finer image costs time and gains nothing.
const defaultDPI = 300

var _ ocr.Engine = (*Engine)(nil)

// Open queries the program's languages. The error is an *ocr.UnavailableError if the program can't be used: it is not
// installed, or has no data for the languages.
func Open(ctx context.Context, opts Options) (*Engine, error) {
	e := &Engine{opts: opts}
	e.version = sync.OnceValue(func() string { return e.queryVersion(context.WithoutCancel(ctx)) })
	list, err := e.query(ctx, "--list-langs")
	if err != nil {
		return nil, err
	}
	e.installed = parseLanguages(list)
	e.osd = slices.Contains(e.installed, "osd")
	e.languages, err = choose(opts.Languages, e.installed)
	return e, err
}

// Name returns "tesseract".
func (e *Engine) Name() string { return program }

// Version returns the program's version, which is queried when it is first asked for: most documents need no OCR. It is
// "unknown" if the program doesn't tell.
func (e *Engine) Version() string { return e.version() }

func (e *Engine) queryVersion(ctx context.Context) string {
	about, err := e.query(ctx, "--version")
	if m := pattern.New(`tesseract v?(\d\S*)`).FindStringSubmatch(about); err == nil && m != nil {
		return m[1]
	}
	return "unknown"
}

// Languages returns the languages that are read.
func (e *Engine) Languages() []string { return slices.Clone(e.languages) }

// Abilities implements ocr.Engine.
func (e *Engine) Abilities() ocr.Abilities {
	return ocr.Abilities{
		Boxes: true, Confidence: true, Rotation: true, Straight: true, Tables: true, DPI: defaultDPI, Side: e.side,
	}
}

// For implements ocr.Engine.
func (e *Engine) For(p ocr.Preferences) (ocr.Engine, error) {
	mine := *e
	if len(p.Languages) > 0 {
		known := readable(e.installed)
		for _, l := range p.Languages {
			if !slices.Contains(known, l) {
				return nil, taskerr.Errorf(taskerr.ValidationError,
					"the language %q can't be read; tesseract has data for %s (codes as ISO 639-2, e.g. eng, deu): ask for "+
						"those, or apt install the language, e.g. tesseract-ocr-fra, then restart the worker", l,
					strings.Join(known, ", "))
			}
		}
		mine.languages = slices.Clone(p.Languages)
	}
	mine.side = p.Side()
	return &mine, nil
}

// query runs the program for information about itself.
func (e *Engine) query(ctx context.Context, question string) (string, error) {
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
			Reason: "tesseract does not run on this machine: " + cause.Error() + "; install " + debianPackage + " again" + thenRestart,
			Cause:  cause,
		}
	}
	return string(out), nil
}

// run runs the program on an image of the given number of pixels, and once more if it needs more memory. in is
// called before each run; out then starts again.
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
			Env: []string{"OMP_THREAD_LIMIT=1"}, // parallel runs would compete for the processors
			Limits: child.Limits{
				Wait: runTime, CPU: runTime, Memory: memory,
				Output: maxOutput, File: 1 << 20, // it writes only to its standard output
			},
		}
	})
	if missing, ok := errors.AsType[*child.NotInstalledError](err); ok {
		return result, &ocr.UnavailableError{Reason: missing.Error() + thenRestart, Cause: err}
	}
	return result, err
}

// Memory of a run from the pool, in bytes. A page of 8.7 million pixels takes tesseract 62 MiB, 78 to detect
// the orientation; one of 20 million takes 118.
const (
	leastMemory = 48 << 20
	ofPixel     = 6
	ofLanguage  = 16 << 20
)

const (
	// runTime is the limit of one run, whatever its context allows.
	runTime = 10 * time.Minute
	// maxOutput is in bytes; a page full of small print has less than one megabyte.
	maxOutput = 64 << 20
)

// failure returns the error of a failed run. Tesseract's messages contain nothing of the page.
func failure(r child.Result) error {
	if r.End != child.Exited {
		return fmt.Errorf("tesseract ended by %s", r.End)
	}
	complaint, _, _ := strings.Cut(r.Stderr, "\n")
	return fmt.Errorf("tesseract failed (status %d: %.200s)", r.ExitCode, complaint)
}

var languageLine = pattern.New(`^[a-z]{3}(_[A-Za-z]+)*$`)

// parseLanguages parses the output of --list-langs and drops scripts and data folders.
func parseLanguages(list string) []string {
	var names []string
	for line := range strings.Lines(list) {
		if line = strings.TrimSpace(line); languageLine.MatchString(line) {
			names = append(names, line)
		}
	}
	return names
}

// choose returns the installed languages to read.
func choose(wanted, installed []string) ([]string, error) {
	for _, l := range wanted {
		if !slices.Contains(installed, l) {
			return nil, &ocr.UnavailableError{
				Reason: fmt.Sprintf("tesseract has no data for the language %q; install %s-%s%s", l, debianPackage,
					strings.ReplaceAll(l, "_", "-"), thenRestart),
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
			Reason: "tesseract has no data for any language; install " + debianPackage + "-eng" + thenRestart,
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
