package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
)

const (
	// treeLimit is the memory of a worker with its children at PARSER_MEMORY_MB's default.
	treeLimit = 1 << 30
	// atOnce is WORKER_CONCURRENCY's default.
	atOnce = 4
	// stepTime is STEP_TIMEOUT_SEC's default.
	stepTime = 30 * time.Second
	// lookEvery is the interval between measurements of the tree.
	lookEvery = 10 * time.Millisecond
)

// costly is a file and the cost of reading it.
type costly struct {
	name, path string
	took
}

type took struct {
	wall, cpu time.Duration
	peak      int64 // bytes, of the whole tree
	output    string
}

// measureCostly prints the cost of each costly file in a process of its own, and of a process that reads the worst
// ones at once.
func measureCostly(ctx context.Context, out io.Writer, folder string) error {
	files := append(nativetest.CostlyPages(), nativetest.CostlyOffice()...)
	files = append(files, nativetest.CostlyPictures(8000, 4999)...)
	files = append(files, nativetest.PagesTIFF(8000, 1200, 60))
	fmt.Fprintf(out, "\nSmall files that cost much: the proportional memory (PSS) of the process that reads them "+
		"and of its programs, at its peak.\n")
	var all []costly
	for i, f := range files {
		c := costly{name: f.Name, path: filepath.Join(folder, strconv.Itoa(i)+filepath.Ext(f.Name))}
		if err := writeFile(c.path, f.Write); err != nil {
			return err
		}
		info, err := os.Stat(c.path)
		if err == nil {
			c.took, err = readApart(ctx, c.path)
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "  %4d MB  %8v  %8v of CPU  %s (%d KB)\n          %s\n", c.peak>>20, ms(c.wall), ms(c.cpu),
			c.name, info.Size()>>10, c.output)
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b costly) int { return cmp.Compare(b.peak, a.peak) })
	worst := make([]string, atOnce)
	for i := range worst {
		worst[i] = all[i].path
	}
	t, err := readApart(ctx, worst...)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nThe worst %d at once: %d MB, %v, %v of CPU; the limit is %d MB.\n", atOnce, t.peak>>20,
		ms(t.wall), ms(t.cpu), treeLimit>>20)
	together := t.peak
	if t, err = readApart(ctx, slices.Repeat(worst[:1], atOnce)...); err != nil {
		return err
	}
	fmt.Fprintf(out, "The worst one %d times at once: %d MB, %v, %v of CPU.\n", atOnce, t.peak>>20, ms(t.wall),
		ms(t.cpu))
	if most := max(together, t.peak); most > treeLimit {
		return fmt.Errorf("a worker takes %d MB", most>>20)
	}
	return nil
}

// readApart has another process read the files at once.
func readApart(ctx context.Context, paths ...string) (took, error) {
	self, err := os.Executable()
	if err != nil {
		return took{}, err
	}
	cmd := exec.CommandContext(ctx, self, append([]string{"read"}, paths...)...)
	var output strings.Builder
	cmd.Stdout, cmd.Stderr = &output, os.Stderr
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return took{}, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t := took{}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			t.wall, t.cpu = time.Since(began), cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()
			t.output = strings.TrimSpace(output.String())
			return t, err
		case <-tick.C:
			t.peak = max(t.peak, treeMemory(cmd.Process.Pid))
		}
	}
}

// treeMemory is the proportional memory of a process and all below it, in bytes. A process that has ended has none.
func treeMemory(pid int) int64 {
	sum := proportional(pid)
	for _, child := range childrenOf(pid) {
		sum += treeMemory(child)
	}
	return sum
}

func proportional(pid int) int64 {
	rollup, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid)) // it has ended
	for line := range strings.Lines(string(rollup)) {
		if rest, ok := strings.CutPrefix(line, "Pss:"); ok {
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return n << 10
		}
	}
	return 0
}

// serveRead reads the files at once, as tasks of one worker do, and prints the result of each.
func serveRead(out io.Writer, paths []string) int {
	ctx := context.Background()
	router, _ := app.Extractors(ctx, stepTime, nil) // pages without text stay unread where there is no OCR
	var all sync.WaitGroup
	var mu sync.Mutex
	for _, path := range paths {
		all.Go(func() {
			output := readOne(ctx, router, path)
			mu.Lock()
			defer mu.Unlock()
			fmt.Fprintln(out, output)
		})
	}
	all.Wait()
	return 0
}

func readOne(ctx context.Context, router *extract.Router, path string) string {
	blocks := 0
	src, err := extract.Open(path, filepath.Base(path))
	var info extract.Info
	if err == nil {
		info, err = router.Extract(ctx, src, extract.Limits{}, func(extract.Block) error { blocks++; return nil })
	}
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("read: %d pages, %d blocks, %d characters, unread %q %s", info.Pages, blocks, info.Characters,
		info.Properties["unread_list"]+info.Properties["pages_unreadable"], info.Properties["unread_reason"])
}
