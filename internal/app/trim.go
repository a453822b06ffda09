package app

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
)

// released returns what releases memory and logs a failure.
func (w *Worker) released(by func() error) func() {
	return func() {
		if err := by(); err != nil {
			w.tenant.log.Warn("can't release unused memory", "error", err)
		}
	}
}

// trim releases memory that an idle worker doesn't need: garbage, and the program's pages.
func trim() error {
	debug.FreeOSMemory()
	return trimProgram()
}

// trimProgram releases the pages of the program's file that are in memory, most of which only the start or a task used:
// code, and constants with the tables that the runtime has of the code. There is a process for each tenant. The kernel
// maps a page again from the page cache when it is used, which takes a working process a millisecond for all of them.
func trimProgram() error {
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return err
	}
	smaps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return err
	}
	found, err := unwritten(smaps, exe)
	if err := errors.Join(err, smaps.Close()); err != nil {
		return err
	}
	for _, m := range found {
		if _, _, no := syscall.Syscall(syscall.SYS_MADVISE, uintptr(m.first), uintptr(m.end-m.first),
			syscall.MADV_DONTNEED); no != 0 {
			return fmt.Errorf("madvise: %w", no)
		}
	}
	return nil
}

// mapping is a range of addresses.
type mapping struct{ first, end uint64 }

// unwritten returns the mappings of a file that equal the file: they can't be written, and the kernel has copied no
// page of them for a write, which the dynamic linker's relocations would have needed. Dropping such a copy would lose
// what was written.
func unwritten(smaps io.Reader, file string) ([]mapping, error) {
	var found []mapping
	inFile := false
	lines := bufio.NewScanner(smaps)
	for lines.Scan() { // proc_pid_smaps(5): a line as in proc_pid_maps(5), then lines like "Anonymous: 0 kB"
		f := strings.Fields(lines.Text())
		if len(f) > 0 && !strings.HasSuffix(f[0], ":") {
			inFile = len(f) == 6 && (f[1] == "r-xp" || f[1] == "r--p") && f[5] == file
			if !inFile {
				continue
			}
			from, to, _ := strings.Cut(f[0], "-")
			first, err1 := strconv.ParseUint(from, 16, 64)
			end, err2 := strconv.ParseUint(to, 16, 64)
			if err := errors.Join(err1, err2); err != nil {
				return nil, err
			}
			found = append(found, mapping{first, end})
		} else if inFile && len(f) == 3 && f[0] == "Anonymous:" && f[1] != "0" {
			found, inFile = found[:len(found)-1], false
		}
	}
	return found, lines.Err()
}
