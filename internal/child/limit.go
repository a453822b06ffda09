package child

import (
	"os/exec"
	"strconv"
	"time"
)

// limitsRefused is the exit status of the wrapper if a limit could not be set; the program was then not
// started.
const limitsRefused = 219

// wrapper sets the limits on itself and becomes the program. Go can't set limits between fork and exec, and
// setting them from outside after the start (prlimit(2)) leaves a window in which the program runs without
// them. A POSIX shell is on every machine, keeps the process id over exec, and needs no system call that the
// service's filter denies (its ulimit is prlimit64). The hard limit of processor time is one second above the
// soft one, so that the program ends by SIGXCPU, which identifies the reason. Its input is only numbers and the
// program's arguments, and is never parsed as script. Memory has two limits: the program's own memory (-d), and
// with mapped files (-v). A limit that can't be set because the service's own is lower stays at that.
const wrapper = `limit() { ulimit "$1" "$2" 2>/dev/null || test "$(ulimit -H "$1")" -le "$2"; }
limit -c 0 && limit -v "$1" && limit -d "$5" && limit -f "$2" && limit -n "$3" && limit -t "$(($4 + 1))" &&
{ ulimit -S -t "$4" 2>/dev/null || test "$(ulimit -S -t)" -le "$4"; } || exit 219
shift 5
exec "$@"`

// limited returns the command of program under l.
func limited(l Limits, program string, args []string) *exec.Cmd {
	const kibibyte, block = 1 << 10, 512
	seconds := int64((l.CPU + time.Second - 1) / time.Second)
	return exec.Command("/bin/sh", append([]string{
		"-c", wrapper, "child",
		strconv.FormatInt((l.Memory+l.Mapped)/kibibyte, 10),
		strconv.FormatInt(max(l.File/block, 1), 10),
		strconv.Itoa(l.OpenFiles),
		strconv.FormatInt(seconds, 10),
		strconv.FormatInt(max(l.Memory/kibibyte, 1), 10),
		program,
	}, args...)...)
}
