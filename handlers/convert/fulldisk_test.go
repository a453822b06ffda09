package convert_test

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/handlers/convert"
	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/internal/deck/decktest"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// TestDiskFullAtThePreview: a deck whose slides can't be drawn for want of room is not committed without them: the task
// waits until this machine has room.
func TestDiskFullAtThePreview(t *testing.T) {
	t.Parallel()
	b := handlertest.New(t, task.Convert, 8)
	if err := syscall.Mount("tmpfs", b.Temp, "tmpfs", 0, "size=64m"); err != nil {
		t.Skipf("SKIPPED: a small disk can't be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(b.Temp, 0); err != nil {
			t.Error(err)
		}
	})
	b.Put("talk.pptx", string(decktest.PPTX(t, decktest.Sample(t))))
	before := names(b)
	call := b.Begin(`{"filename":"talk.pptx"}`, task.Hints{})
	full := &filling{Progress: call.Progress, path: filepath.Join(b.Temp, "other")}
	call.Progress = full
	out, err := convert.New(deps(b)).Handle(t.Context(), call)
	if !taskerr.Exhausted(err) || !full.done {
		t.Fatalf("got %+v, %v; want the machine's lack of room", out.Result, err)
	}
	if after := names(b); len(after) != len(before) {
		t.Errorf("%v are left", after)
	}
	if err := os.Remove(full.path); err != nil {
		t.Fatal(err)
	}
	b.CheckTemp()
	call.Progress = full.Progress
	if out, err = convert.New(deps(b)).Handle(t.Context(), call); err != nil {
		t.Fatal(err)
	}
	var r convert.Result
	if b.Complete(call, out, &r); r.PreviewPath == "" || len(r.Warnings) > 0 {
		t.Errorf("with room: %+v", r)
	}
}

// filling takes all of the disk when the preview begins.
type filling struct {
	handlers.Progress
	path string
	done bool
}

func (f *filling) Stage(name string) error {
	if name == "generating_preview" {
		file, err := os.Create(f.path)
		if err != nil {
			return err
		}
		defer file.Close()
		_, err = io.Copy(file, zeros{})
		f.done = err != nil
	}
	return f.Progress.Stage(name)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }
