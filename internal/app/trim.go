package app

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
)

// trim releases memory and logs a failure.
func (w *Worker) trim() {
	if err := trim(); err != nil {
		w.tenant.log.Warn("can't release unused memory", "error", err)
	}
}

// trim releases memory that an idle worker doesn't need: garbage, and pages of the program's code that mainly the
// start and tasks use. There is a process for each tenant. The kernel maps code again from the page cache when used.
func trim() error {
	debug.FreeOSMemory()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return err
	}
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(maps)) { // proc_pid_maps(5)
		f := strings.Fields(line)
		if len(f) != 6 || f[1] != "r-xp" || f[5] != exe {
			continue // a mapping that is or was writable may differ from the file
		}
		from, to, _ := strings.Cut(f[0], "-")
		first, err := strconv.ParseUint(from, 16, 64)
		if err != nil {
			return err
		}
		end, err := strconv.ParseUint(to, 16, 64)
		if err != nil {
			return err
		}
		if _, _, no := syscall.Syscall(syscall.SYS_MADVISE, uintptr(first), uintptr(end-first),
			syscall.MADV_DONTNEED); no != 0 {
			return fmt.Errorf("madvise: %w", no)
		}
	}
	return nil
}
