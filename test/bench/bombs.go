package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// bombTime is the CPU time of this process until a bomb must be refused: the machine may be busy.
const bombTime = time.Second

// measureBombs prints how long each bomb takes until it is refused, and with which error.
func measureBombs(ctx context.Context, out io.Writer) error {
	folder, err := os.MkdirTemp("", "bench-bombs-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	router := extract.NewRouter(native.Extractors(pdf.New(), nil))
	fmt.Fprintf(out, "\nFiles that would cost much to read: how long until they are refused; the limit is %v.\n",
		bombTime)
	missed := 0
	for _, bomb := range nativetest.Bombs() {
		path := filepath.Join(folder, "bomb"+filepath.Ext(bomb.Name))
		if err := writeFile(path, bomb.Write); err != nil {
			return err
		}
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		cpu, began := cpuTime(), time.Now()
		src, err := extract.Open(path, bomb.Name)
		if err == nil {
			_, err = router.Extract(ctx, src, extract.Limits{}, func(extract.Block) error { return nil })
		}
		cpu, wall := cpuTime()-cpu, time.Since(began)
		verdict := ""
		if refusal, ok := errors.AsType[*taskerr.Error](err); !ok || refusal.Class != bomb.Class || cpu > bombTime {
			missed++
			verdict = "MISSED "
		}
		fmt.Fprintf(out, "  %s%s (%d KB): %v of CPU, %v\n      %v\n", verdict, bomb.Name, info.Size()>>10, ms(cpu),
			ms(wall), err)
	}
	if missed > 0 {
		return fmt.Errorf("%d bombs are not refused in time", missed)
	}
	return measureCostly(ctx, out, folder)
}
