package doctor

import (
	"context"
	"fmt"
	"strconv"
)

// MemoryLimit is how much memory a control group may have. The zero value is no limit.
type MemoryLimit struct {
	Bytes int64
	Where string // what sets it, e.g. "MemoryHigh= of async-worker@acme.service"; empty: there is no limit
}

// Lower returns the lesser limit of two. value is in bytes; anything but a number is no limit.
func (l MemoryLimit) Lower(value, where string) MemoryLimit {
	if n, err := strconv.ParseInt(value, 10, 64); err == nil && (l.Where == "" || n < l.Bytes) {
		return MemoryLimit{n, where}
	}
	return l
}

// Below reports whether there may be less memory than that.
func (l MemoryLimit) Below(bytes int64) bool { return l.Where != "" && l.Bytes < bytes }

// memory checks whether parsers may have the memory of their setting.
func (w *Worker) memory(ctx context.Context) Result {
	const check = "memory"
	if w.Machine.Memory == nil {
		return Result{Check: check, State: Skipped, Seen: "not looked for"}
	}
	var l MemoryLimit
	err := w.within(ctx, func(ctx context.Context) (err error) {
		l, err = w.Machine.Memory(ctx)
		return err
	})
	switch needs := w.Machine.NeedMemory; {
	case err != nil:
		return Result{Check: check, State: Skipped, Seen: "the limit is not known: " + err.Error()}
	case l.Where == "":
		return ok(check, "no limit was found")
	case l.Below(needs):
		return Result{
			Check: check, State: Warn, Seen: fmt.Sprintf("%s is %d MiB; PARSER_MEMORY_MB and the worker's own memory are %d, so "+
				"programs that read documents may be slowed down or killed", l.Where, l.Bytes>>20, needs>>20),
			Remedy: "raise MemoryHigh= and MemoryMax= (systemctl edit async-worker@" + w.ClientID + ") or the container's limit, or " +
				"lower PARSER_MEMORY_MB",
		}
	}
	return ok(check, "%s is %d MiB", l.Where, l.Bytes>>20)
}
