// Package scrape takes pictures out of PDF files, by poppler's pdfimages in a limited child. Pictures that are small, that
// fill their page (a scan), or that many pages have (a letterhead) are left.
package scrape

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/child"
	"github.com/seed-7227ef26/async-worker/internal/deck/compose"
	"github.com/seed-7227ef26/async-worker/internal/deck/pptx"
)

// Options qualify PDF.
type Options struct {
	Folder  string        // where the pictures are saved, each under its SHA-256
	TempDir string        // for a working folder
	Time    time.Duration // for each run of a program
	Pool    *child.Pool   // of memory; nil: unlimited
}

// Limits of what is taken.
const (
	leastSide   = 120 // pixels
	mostSide    = 6000
	leastInches = 0.9
	wholeInches = 7.0 // a picture that is as wide and as high fills its page
	mostPages   = 40  // that pictures are taken from
	mostShown   = 100
	repeated    = 3 // pages that have the same picture
	memory      = 256 << 20
	mostBytes   = 64 << 20
	mostListed  = 20_000
	// A page that draws more is left: pdfimages writes all of its pictures, each as often as the page draws it.
	mostDrawn  = 200
	mostPixels = 100_000_000
)

// entry is a line of pdfimages -list.
type entry struct {
	page, number  int
	width, height int
	xppi, yppi    float64
	object        string
	masked        bool // it is drawn through a mask: alone it is not what a reader sees
}

func (e entry) wanted() bool {
	w, h := float64(e.width)/max(e.xppi, 1), float64(e.height)/max(e.yppi, 1)
	return !e.masked && e.width >= leastSide && e.height >= leastSide && e.width <= mostSide && e.height <= mostSide &&
		w >= leastInches && h >= leastInches && (w < wholeInches || h < wholeInches)
}

// PDF saves the pictures of a PDF file. missed says what was left because there is too much; "": nothing. A machine
// without pdfimages, and a file that it can't read, yield none.
func PDF(ctx context.Context, path string, pages int, o Options) (found []compose.Picture, missed string, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return nil, "", fmt.Errorf("find the PDF: %w", err)
	}
	all, err := list(ctx, path, o)
	if err != nil || len(all) == 0 {
		return nil, "", err
	}
	wanted, left := choose(all), overdrawn(all)
	seen := map[string]bool{}
	done := 0
	for page := 1; page <= pages && len(found) < mostShown; page++ {
		of := wanted[page]
		if len(of) == 0 {
			continue
		}
		if left[page] {
			missed = "pictures of pages that draw very many or very large ones are not in the deck"
			continue
		}
		if done++; done > mostPages {
			return found, fmt.Sprintf("pictures after page %d of the document are not in the deck", page-1), nil
		}
		got, err := take(ctx, path, page, of, o)
		if err != nil {
			return nil, "", err
		}
		for _, p := range got {
			if !seen[p.Key] {
				seen[p.Key] = true
				found = append(found, p)
			}
		}
	}
	return found, missed, nil
}

// overdrawn returns the pages that draw too much. That which the list ends with may draw more than it says.
func overdrawn(all []entry) map[int]bool {
	pages, drawn, pixels := map[int]bool{}, map[int]int{}, map[int]int{}
	for _, e := range all {
		drawn[e.page]++
		pixels[e.page] += e.width * e.height
		if drawn[e.page] > mostDrawn || pixels[e.page] > mostPixels {
			pages[e.page] = true
		}
	}
	if len(all) == mostListed {
		pages[all[len(all)-1].page] = true
	}
	return pages
}

// list reads which pictures the file has.
func list(ctx context.Context, path string, o Options) ([]entry, error) {
	var all []entry
	result, err := o.Pool.Run(ctx, func() child.Command {
		return child.Command{
			Program: "pdfimages", Package: "poppler-utils", Args: []string{"-list", path}, Files: []string{path}, Dir: o.TempDir,
			Limits: child.Limits{Wait: o.Time, CPU: o.Time, Memory: memory, Output: 4 << 20},
			Stdout: func(out io.Reader) error {
				all = parse(out)
				return nil
			},
		}
	})
	if _, missing := errors.AsType[*child.NotInstalledError](err); missing || err == nil && !result.OK() {
		return nil, nil
	}
	return all, err
}

// parse reads the table of pdfimages -list. The numbers of its pictures are those of the files that it writes.
func parse(out io.Reader) []entry {
	var all []entry
	masks := map[[3]int]bool{} // of a page, by size
	lines := bufio.NewScanner(out)
	for lines.Scan() && len(all) < mostListed {
		f := strings.Fields(lines.Text())
		if len(f) < 14 {
			continue
		}
		page, err1 := strconv.Atoi(f[0])
		number, err2 := strconv.Atoi(f[1])
		if err1 != nil || err2 != nil {
			continue
		}
		e := entry{page: page, number: number, object: f[10]}
		e.width, _ = strconv.Atoi(f[3])  // zero is not wanted
		e.height, _ = strconv.Atoi(f[4]) // zero is not wanted
		e.xppi, _ = strconv.ParseFloat(f[12], 64)
		e.yppi, _ = strconv.ParseFloat(f[13], 64)
		if f[2] != "image" {
			e.masked = true
			masks[[3]int{e.page, e.width, e.height}] = true
		}
		all = append(all, e)
	}
	for i := range all {
		all[i].masked = masks[[3]int{all[i].page, all[i].width, all[i].height}]
	}
	return all
}

// choose returns the pictures that are wanted, by page: their places among the page's, from 0.
func choose(all []entry) map[int]map[int]bool {
	pages := map[string]map[int]bool{}
	first := map[int]int{}
	for _, e := range all {
		if pages[e.object] == nil {
			pages[e.object] = map[int]bool{}
		}
		pages[e.object][e.page] = true
		if at, known := first[e.page]; !known || e.number < at {
			first[e.page] = e.number
		}
	}
	wanted := map[int]map[int]bool{}
	taken := map[string]bool{}
	for _, e := range all {
		if !e.wanted() || len(pages[e.object]) > repeated || taken[e.object] {
			continue
		}
		if e.object != "[inline]" {
			taken[e.object] = true
		}
		if wanted[e.page] == nil {
			wanted[e.page] = map[int]bool{}
		}
		wanted[e.page][e.number-first[e.page]] = true
	}
	return wanted
}

// take saves the wanted pictures of a page.
func take(ctx context.Context, path string, page int, wanted map[int]bool, o Options) ([]compose.Picture, error) {
	dir, err := os.MkdirTemp(o.TempDir, "pictures-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for pictures: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // what remains is in the task's folder, which is removed with it
	number := strconv.Itoa(page)
	result, err := o.Pool.Run(ctx, func() child.Command {
		return child.Command{
			Program: "pdfimages", Package: "poppler-utils", Files: []string{path}, Folders: []string{dir}, Dir: o.TempDir,
			Args:   []string{"-png", "-f", number, "-l", number, path, filepath.Join(dir, "p")},
			Limits: child.Limits{Wait: o.Time, CPU: o.Time, Memory: memory, File: mostBytes},
		}
	})
	if err != nil || !result.OK() {
		return nil, err
	}
	files, err := os.ReadDir(dir) // in the order of their names, which is that of the pictures
	if err != nil {
		return nil, fmt.Errorf("look for pictures: %w", err)
	}
	var found []compose.Picture
	for i, file := range files {
		if !wanted[i] {
			continue
		}
		p, err := save(ctx, dir, file.Name(), o.Folder)
		if err != nil {
			return nil, err
		}
		if p.Media.Type == "image/png" { // a document that took pdfimages over may leave anything
			p.Page = page
			found = append(found, p)
		}
	}
	return found, nil
}

// save saves a picture that pdfimages made. The zero value is none.
func save(ctx context.Context, dir, name, folder string) (compose.Picture, error) {
	file, err := child.OpenMade(dir, name)
	if errors.Is(err, child.ErrNotMade) {
		return compose.Picture{}, nil
	}
	if err != nil {
		return compose.Picture{}, fmt.Errorf("open a picture: %w", err)
	}
	defer func() { _ = file.Close() }() // read-only
	key, about, err := pptx.Save(ctx, file, folder, ".png")
	return compose.Picture{Key: key, Media: about}, err
}
