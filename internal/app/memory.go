package app

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/doctor"
)

// ownMemory is what the worker needs in addition to PARSER_MEMORY_MB, with room for the file cache, in bytes.
const ownMemory = 256 << 20

// Where the kernel tells a process its control group, and the limits of the groups (cgroup v2).
const (
	selfGroup = "/proc/self/cgroup"
	groups    = "/sys/fs/cgroup"
)

// groupLimit returns the least limit of memory of the control group in the file self and of those above it below mount.
func groupLimit(self, mount string) (least doctor.MemoryLimit) {
	text, _ := os.ReadFile(self) // without one there is no limit
	for line := range strings.Lines(string(text)) {
		name, found := strings.CutPrefix(strings.TrimSpace(line), "0::")
		if !found {
			continue
		}
		for group := filepath.Join("/", name); ; group = filepath.Dir(group) {
			for _, file := range []string{"memory.high", "memory.max"} {
				path := filepath.Join(mount, group, file)
				value, _ := os.ReadFile(path) // the root has none
				least = least.Lower(strings.TrimSpace(string(value)), path)
			}
			if group == "/" {
				return least
			}
		}
	}
	return least
}

// unitLimit returns the least limit of memory in what systemctl shows of a unit.
func unitLimit(shown, unit string) (least doctor.MemoryLimit) {
	for line := range strings.Lines(shown) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		least = least.Lower(value, name+"= of "+unit)
	}
	return least
}

// warnOfMemory logs that the worker may need more memory than it may have; `doctor` reports it, too.
func (t *Tenant) warnOfMemory(l doctor.MemoryLimit) {
	if needs := t.Config.ParserMemory + ownMemory; l.Below(needs) {
		t.log.Warn("the worker may not have the memory that it needs: programs that read documents may be slowed down or killed; "+
			"raise MemoryHigh= and MemoryMax= of the unit or the container's limit, or lower PARSER_MEMORY_MB",
			"needs_mib", needs>>20, "limit_mib", l.Bytes>>20, "limit", l.Where)
	}
}
