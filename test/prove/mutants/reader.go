package mutants

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/child"
	"github.com/seed-7227ef26/async-worker/internal/chunk"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf"
	"github.com/seed-7227ef26/async-worker/internal/extract/scan"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/llm/token"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Task is a file for a reader.
type Task struct {
	Path   string `json:"path"`
	Name   string `json:"name"`
	Format string `json:"format"` // that it is read as if another one is detected
	OCR    bool   `json:"ocr"`    // by tesseract; else every image has the same text
}

// Reply is a reader's answer about a file.
type Reply struct {
	Outcome    string        `json:"outcome"` // read, or the class of the error
	Message    string        `json:"message,omitempty"`
	Took       time.Duration `json:"took"`
	CPU        time.Duration `json:"cpu"`        // of the process and its children
	Peak       int64         `json:"peak"`       // bytes, the largest resident size of the process
	Children   int64         `json:"children"`   // the same of the largest of its children so far
	Goroutines int           `json:"goroutines"` // afterwards
}

// pageTime is for a page that tesseract reads: short, so that a hang is distinct from a page that takes long.
const pageTime = 15 * time.Second

// Outcomes that are not a class of an error.
const (
	Read    = "read"
	Unclear = "unclear" // the error has no class
)

// parserMemory is the least PARSER_MEMORY_MB that a worker takes. A step of a program gets two thirds of it.
const parserMemory = 384 << 20

// Serve reads files as the worker does, up to their chunks, one for each task on in, and replies on out. It returns
// at the end of in.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	full, noOCR := app.Extractors(ctx, pageTime, nil)
	if noOCR != nil {
		return noOCR
	}
	quick := extract.NewRouter(native.Extractors(scan.New(pdf.New(), word{}, scan.Options{Pages: 3}),
		scan.NewImages(word{}, scan.Options{})))
	pool := child.NewPool(parserMemory)
	full, quick = full.WithPool(pool), quick.WithPool(pool)
	counter := token.New()
	tasks, replies := bufio.NewScanner(in), json.NewEncoder(out)
	for tasks.Scan() {
		var t Task
		if err := json.Unmarshal(tasks.Bytes(), &t); err != nil {
			return err
		}
		router := quick
		if t.OCR {
			router = full
		}
		resetPeak()
		began, spent := time.Now(), usage(syscall.RUSAGE_SELF).cpu+usage(syscall.RUSAGE_CHILDREN).cpu
		err := read(ctx, router, counter, t)
		reply := Reply{Outcome: Read, Took: time.Since(began), Peak: peak(), Goroutines: runtime.NumGoroutine()}
		children := usage(syscall.RUSAGE_CHILDREN)
		reply.CPU, reply.Children = usage(syscall.RUSAGE_SELF).cpu+children.cpu-spent, children.peak
		if err != nil {
			reply.Outcome, reply.Message = Unclear, err.Error()
			if e, ok := errors.AsType[*taskerr.Error](err); ok {
				reply.Outcome = string(e.Class)
				if e.Class == taskerr.InternalBug {
					reply.Message = fmt.Sprintf("%v %v", e, e.Cause)
				}
			}
		}
		if err := replies.Encode(reply); err != nil {
			return err
		}
	}
	return tasks.Err()
}

// read extracts and chunks a file. If another format or none is detected, it reads the file as its own format as
// well: most damage would never reach the reader otherwise.
func read(ctx context.Context, router *extract.Router, counter llm.Counter, t Task) error {
	src, err := extract.Open(t.Path, t.Name)
	if err == nil {
		err = chunks(ctx, router, counter, src)
	}
	if _, ok := errors.AsType[*taskerr.Error](err); err != nil && !ok || string(src.Format) == t.Format ||
		len(router.Version(extract.Format(t.Format))) == 0 {
		return err
	}
	info, err := os.Stat(t.Path)
	if err != nil {
		return err
	}
	return chunks(ctx, router, counter, extract.Source{
		Path: t.Path, Name: t.Name, Size: info.Size(), Format: extract.Format(t.Format),
	})
}

func chunks(ctx context.Context, router *extract.Router, counter llm.Counter, src extract.Source) error {
	c := chunk.New(chunk.Config{Counter: counter, Model: "mutants", Dimensions: 3},
		func(chunk.Chunk) error { return nil })
	if _, err := router.Extract(ctx, src, extract.DefaultLimits, c.Add); err != nil {
		return err
	}
	return c.Close()
}

// word is an OCR engine that reads the same on every page.
type word struct{}

func (word) Name() string                              { return "word" }
func (word) Version() string                           { return "1" }
func (word) Languages() []string                       { return []string{"eng"} }
func (word) Abilities() ocr.Abilities                  { return ocr.Abilities{Confidence: true} }
func (w word) For(ocr.Preferences) (ocr.Engine, error) { return w, nil }

func (word) Read(context.Context, ocr.Image) (ocr.Page, error) {
	return ocr.Page{Paragraphs: []ocr.Paragraph{{{{Text: "word", Confidence: 0.9}}}}}, nil
}

// resetPeak makes the kernel reset the largest resident size (proc(5), clear_refs). Where that is not allowed, the
// size is that of all files so far.
func resetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

// peak is the process's largest resident size in bytes; 0: unknown.
func peak() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		var kilobytes int64
		if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &kilobytes); n == 1 {
			return kilobytes << 10
		}
	}
	return 0
}

// used is the usage of processes.
type used struct {
	cpu  time.Duration
	peak int64 // bytes, of the largest
}

func usage(who int) used {
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		return used{}
	}
	return used{time.Duration(u.Utime.Nano() + u.Stime.Nano()), u.Maxrss << 10}
}
