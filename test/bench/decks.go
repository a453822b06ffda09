package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/deck/fonts"
	"github.com/seed-7227ef26/async-worker/internal/deck/pptx"
	"github.com/seed-7227ef26/async-worker/internal/deck/preview"
	"github.com/seed-7227ef26/async-worker/internal/deck/printer"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/soffice"
)

const (
	deckSlides  = 30
	longDeck    = 300
	deckRounds  = 12
	sofficeRuns = 3
	memoryLimit = 200 // MB, for longDeck
	// The objectives of the lifecycle at the 95th percentile.
	convertGoal, exportGoal = 15 * time.Second, 12 * time.Second
)

// measureDecks measures convert and export without storage: what they read, draw and write.
func measureDecks(ctx context.Context, out io.Writer) error {
	dir, err := os.MkdirTemp("", "bench-decks-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "deck.pptx")
	if err := writeDeck(ctx, path, benchDeck(deckSlides)); err != nil {
		return err
	}
	fmt.Fprintf(out, "decks of %d slides, each with a list, a table or a chart and notes; %d rounds\n", deckSlides, deckRounds)
	b := &deckBench{dir: dir, path: path, fonts: fonts.New(), out: out}
	steps := []struct {
		name string
		goal time.Duration
		runs int
		do   func(context.Context) error
	}{
		{"convert: read, preview by our own drawing", convertGoal, deckRounds, b.convert(false)},
		{"convert: read, preview by LibreOffice", convertGoal, sofficeRuns, b.convert(true)},
		{"export pptx", exportGoal, deckRounds, b.export(printPPTX)},
		{"export pdf, native", exportGoal, deckRounds, b.export(b.printNative)},
		{"export pdf, soffice", exportGoal, sofficeRuns, b.export(printSoffice)},
		{"python-pptx: read and write the same file", 0, sofficeRuns, b.python},
	}
	for _, s := range steps {
		if err := b.step(ctx, s.name, s.goal, s.runs, s.do); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return b.memory(ctx)
}

type deckBench struct {
	dir, path string
	fonts     *fonts.Library
	out       io.Writer
}

var errNotHere = errors.New("not installed")

// step runs a step some times, and prints the median and the 95th percentile.
func (b *deckBench) step(ctx context.Context, name string, goal time.Duration, runs int, do func(context.Context) error) error {
	var took []time.Duration
	for range runs {
		began := time.Now()
		if err := do(ctx); errors.Is(err, errNotHere) {
			fmt.Fprintf(b.out, "  %-46s %v\n", name, err)
			return nil
		} else if err != nil {
			return err
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	p95 := took[min(len(took)*95/100, len(took)-1)]
	verdict := ""
	if goal > 0 {
		verdict = fmt.Sprintf("objective %v", goal)
		if p95 > goal {
			verdict += ": MISSED"
		}
	}
	fmt.Fprintf(b.out, "  %-46s p50 %8v  p95 %8v  %s\n", name, took[len(took)/2].Round(time.Millisecond), p95.Round(time.Millisecond), verdict)
	return nil
}

// job reads the file as a deck, in a folder of its own that is returned.
func (b *deckBench) job(ctx context.Context) (printer.Job, error) {
	dir, err := os.MkdirTemp(b.dir, "job-")
	if err != nil {
		return printer.Job{}, err
	}
	d, _, err := pptx.Read(ctx, b.path, pptx.ReadOptions{Name: "deck.pptx", Folder: dir})
	return printer.Job{
		Deck: d, Folder: dir, Media: func(key string) (io.ReadCloser, error) { return os.Open(filepath.Join(dir, key)) },
	}, err
}

func (b *deckBench) convert(office bool) func(context.Context) error {
	return func(ctx context.Context) error {
		if office && soffice.Prints() != nil {
			return errNotHere
		}
		j, err := b.job(ctx)
		if err != nil {
			return err
		}
		defer os.RemoveAll(j.Folder)
		if err := deck.Write(io.Discard, j.Deck); err != nil {
			return err
		}
		file, pictures := filepath.Join(j.Folder, "deck.pdf"), filepath.Join(j.Folder, "preview")
		print := b.printNative
		if office {
			print = printSoffice
		}
		if err := errors.Join(os.Mkdir(pictures, 0o700), print(ctx, j, file)); err != nil {
			return err
		}
		sheet := preview.NewSheet(len(j.Deck.Slides))
		if _, err := preview.Render(ctx, file, pictures, preview.Options{Each: sheet.Add}); err != nil {
			return err
		}
		return sheet.Save(filepath.Join(j.Folder, "sheet.png"))
	}
}

func (b *deckBench) export(print func(context.Context, printer.Job, string) error) func(context.Context) error {
	return func(ctx context.Context) error {
		j, err := b.job(ctx)
		if err != nil {
			return err
		}
		defer os.RemoveAll(j.Folder)
		return print(ctx, j, filepath.Join(j.Folder, "export"))
	}
}

func printPPTX(ctx context.Context, j printer.Job, to string) error {
	_, err := printer.PPTX(ctx, j, to)
	return err
}

func (b *deckBench) printNative(ctx context.Context, j printer.Job, to string) error {
	_, err := printer.Native(ctx, j, b.fonts, to)
	return err
}

func printSoffice(ctx context.Context, j printer.Job, to string) error {
	if soffice.Prints() != nil {
		return errNotHere
	}
	_, err := printer.Soffice(ctx, j, extract.DefaultLimits, to)
	return err
}

// python reads and writes the file by python-pptx, if that is installed.
func (b *deckBench) python(ctx context.Context) error {
	python := os.Getenv("DECK_PYTHON")
	if python == "" {
		python = ".tools/decks/bin/python"
	}
	script := "import sys, pptx; p = pptx.Presentation(sys.argv[1]); [s.text_frame.text for l in p.slides for s in l.shapes if s.has_text_frame]; p.save(sys.argv[2])"
	out, err := exec.CommandContext(ctx, python, "-c", script, b.path, filepath.Join(b.dir, "python.pptx")).CombinedOutput()
	if err != nil && (errors.Is(err, os.ErrNotExist) || bytes.Contains(out, []byte("ModuleNotFound"))) {
		return errNotHere
	}
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// memory measures a process that converts and exports a long deck.
func (b *deckBench) memory(ctx context.Context) error {
	path := filepath.Join(b.dir, "long.pptx")
	if err := writeDeck(ctx, path, benchDeck(longDeck)); err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, program, "deck", path).Output()
	if err != nil {
		return fmt.Errorf("the process with the long deck: %w", err)
	}
	var peak struct {
		MB     int64
		Slides int
	}
	if err := json.Unmarshal(out, &peak); err != nil {
		return err
	}
	verdict := ""
	if peak.MB > memoryLimit {
		verdict = ": MISSED"
	}
	fmt.Fprintf(b.out, "  %d slides read, written as JSON, PPTX and PDF by one process: peak %d MB, limit %d MB%s\n", peak.Slides, peak.MB,
		memoryLimit, verdict)
	return nil
}

// serveDeck converts and exports a file, and prints the peak of the process's memory.
func serveDeck(out io.Writer, args []string) int {
	ctx := context.Background()
	b := &deckBench{path: args[0], fonts: fonts.New(), dir: filepath.Dir(args[0])}
	j, err := b.job(ctx)
	if err == nil {
		err = errors.Join(
			deck.Write(io.Discard, j.Deck), printPPTX(ctx, j, filepath.Join(j.Folder, "a")),
			b.printNative(ctx, j, filepath.Join(j.Folder, "b")))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 1
	}
	var kb int64
	for line := range strings.Lines(string(status)) {
		if n, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			_, _ = fmt.Sscan(n, &kb) // zero: it was not printed
		}
	}
	fmt.Fprintf(out, `{"MB":%d,"Slides":%d}`, kb>>10, len(j.Deck.Slides))
	return 0
}

func writeDeck(ctx context.Context, path string, d *deck.Deck) error {
	return printPPTX(ctx, printer.Job{Deck: d}, path)
}

// benchDeck is a deck as people make them: lists, tables and charts in turn.
func benchDeck(slides int) *deck.Deck {
	d := deck.New("A deck to measure")
	for i := range slides {
		title := fmt.Sprintf("Slide %d: what became of the berths", i+1)
		elements := []deck.Element{{Kind: deck.TextElement, Role: deck.TitleRole, Text: deck.Lines(title)}}
		box := &deck.Box{X: 548640, Y: 1500000, W: 9000000, H: 4200000}
		layout := string(deck.TitleOnlyLayout)
		switch i % 3 {
		case 0:
			layout = string(deck.ContentLayout)
			var lines []string
			for k := range 8 {
				lines = append(lines, fmt.Sprintf("Item %d of slide %d says something about ships, quays and the depth of the basin", k+1, i+1))
			}
			elements = append(elements, deck.Element{Kind: deck.TextElement, Role: deck.BodyRole, Index: 1, Text: deck.Lines(lines...)})
		case 1:
			elements = append(elements, deck.Element{Kind: deck.TableElement, Box: box, Table: benchTable(i)})
		default:
			elements = append(elements, deck.Element{Kind: deck.ChartElement, Box: box, Chart: benchChart(i)})
		}
		d.Slides = append(d.Slides, deck.Slide{Layout: layout, Title: title, Elements: elements, Notes: "Source: report.pdf, page 3"})
	}
	return d
}

func benchTable(n int) *deck.Table {
	t := &deck.Table{Columns: []int64{2250000, 2250000, 2250000, 2250000}, Headers: 1, Banded: true}
	for r := range 9 {
		row := deck.Row{Height: 370000}
		for c := range 4 {
			row.Cells = append(row.Cells, deck.Cell{Text: *deck.Lines(fmt.Sprintf("cell %d.%d.%d", n, r, c))})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func benchChart(n int) *deck.Chart {
	c := &deck.Chart{Kind: deck.ColumnChart, Title: "Ships", Legend: deck.LegendBottom}
	for k := range 12 {
		c.Categories = append(c.Categories, fmt.Sprintf("M%d", k+1))
	}
	for s := range 3 {
		series := deck.Series{Name: fmt.Sprintf("Series %d", s+1)}
		for k := range 12 {
			series.Values = append(series.Values, new(float64((n*7+s*5+k*3)%40)))
		}
		c.Series = append(c.Series, series)
	}
	return c
}
