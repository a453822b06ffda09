package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/seed-7227ef26/async-worker/internal/disk"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func machine(ctx context.Context, w *Worker) []Result {
	return []Result{w.disk(), w.poppler(ctx), w.tesseract(ctx), w.office(), w.sandbox(), w.memory(ctx)}
}

// disk checks the free space, and whether this user may write where the worker is this user's.
func (w *Worker) disk() Result {
	if w.Machine.CacheDir != "" {
		return w.room(nearest(w.Machine.CacheDir))
	}
	const remedy = "give this user a folder for temporary files: TMPDIR, or under systemd CacheDirectory="
	dir := w.Machine.TempDir
	f, err := os.CreateTemp(dir, ".async-worker-doctor-")
	if err != nil {
		class := Config
		if errors.Is(err, fs.ErrPermission) {
			class = Permission
		}
		return Result{Check: "disk", State: Fail, Class: class, Seen: err.Error(), Remedy: remedy}
	}
	if err := errors.Join(f.Close(), os.Remove(f.Name())); err != nil {
		return Result{Check: "disk", State: Fail, Class: Config, Seen: err.Error(), Remedy: remedy}
	}
	return w.room(dir)
}

// nearest returns a folder, or the first above it that this user can look at: the service manager makes a worker's folder
// when the worker starts, and lets no operator into it.
func nearest(dir string) string {
	for parent := filepath.Dir(dir); parent != dir; dir, parent = parent, filepath.Dir(parent) {
		if _, err := disk.Free(dir); err == nil {
			break
		}
	}
	return dir
}

// room checks the free space.
func (w *Worker) room(dir string) Result {
	const check = "disk"
	room, err := disk.Free(dir)
	if err != nil {
		return Result{Check: check, State: Skipped, Seen: err.Error()}
	}
	free := int64(min(room, math.MaxInt64))
	seen := fmt.Sprintf("%d MiB free in %s", free>>20, dir)
	if free < w.Machine.NeedBytes {
		return Result{
			Check: check, State: Warn, Seen: seen + fmt.Sprintf("; tasks of the largest size allowed may need %d MiB",
				w.Machine.NeedBytes>>20),
			Remedy: "make room, or lower MAX_BLOB_MB or WORKER_CONCURRENCY",
		}
	}
	return ok(check, "%s", seen)
}

func (w *Worker) poppler(ctx context.Context) Result {
	var missing []string
	for _, program := range w.Machine.Programs {
		if err := w.within(ctx, func(ctx context.Context) error { return w.Machine.Run(ctx, program) }); err != nil {
			missing = append(missing, program+": "+err.Error())
		}
	}
	if len(missing) > 0 {
		return Result{
			Check: "poppler", State: Fail, Class: Config, Seen: strings.Join(missing, "; "),
			Remedy: "apt install poppler-utils",
		}
	}
	return ok("poppler", "%s", strings.Join(w.Machine.Programs, ", "))
}

func (w *Worker) tesseract(ctx context.Context) Result {
	const check = "tesseract"
	if w.Machine.Tesseract == nil {
		return Result{Check: check, State: Skipped, Seen: "OCR_ENGINE reads pages by a service"}
	}
	var version string
	var languages []string
	if err := w.within(ctx, func(ctx context.Context) (err error) {
		version, languages, err = w.Machine.Tesseract(ctx)
		return err
	}); err != nil {
		return Result{
			Check: check, State: Warn, Seen: err.Error() + "; pages without text stay unread",
			Remedy: "apt install tesseract-ocr tesseract-ocr-eng tesseract-ocr-deu, or set OCR_ENGINE, then restart the worker",
		}
	}
	return ok(check, "version %s reads %s", version, strings.Join(languages, ", "))
}

// office reports whether LibreOffice converts documents. It is optional.
func (w *Worker) office() Result {
	const check = "libreoffice"
	if w.Machine.Office == nil {
		return Result{Check: check, State: Skipped, Seen: "not looked for"}
	}
	if err := w.Machine.Office(); err != nil {
		remedy := ""
		if e, ok := errors.AsType[*taskerr.Error](err); ok {
			remedy = "; " + e.Hint
		}
		return Result{
			Check: check, State: Skipped, Seen: "not installed, so DOC, XLS, PPT and documents of other office programs are " +
				"refused" + remedy,
		}
	}
	return ok(check, "converts documents of older and other office programs")
}

// sandbox reports what a parser that a document has taken over could reach.
func (w *Worker) sandbox() Result {
	const check = "sandbox"
	b := w.Machine.Sandbox
	switch {
	case b.Landlock == 0:
		return Result{
			Check: check, State: Warn, Seen: fmt.Sprintf(
				"%v; poppler and tesseract can read all files that the worker can", b.Without),
			Remedy: "run a kernel with Landlock (Linux 5.13 or later; Debian 12 has it), and let the unit or " +
				"container call landlock_create_ruleset, landlock_add_rule and landlock_restrict_self",
		}
	case b.NoSeccomp != nil:
		return Result{
			Check: check, State: Warn, Seen: b.NoSeccomp.Error() + "; poppler and tesseract can open sockets",
			Remedy: "run a kernel with filters of system calls (CONFIG_SECCOMP_FILTER), and let the unit or container call " +
				"seccomp and prctl",
		}
	}
	return ok(check, "Landlock version %d and a filter of system calls", b.Landlock)
}

func unit(ctx context.Context, w *Worker) []Result {
	return []Result{w.files(), w.enabled(ctx)}
}

// files checks the modes of files that may hold secrets.
func (w *Worker) files() Result {
	const check = "files"
	paths := []string{w.Unit.EnvFile, w.Unit.Credentials}
	if w.Unit.Shared != "" {
		paths = append(paths, w.Unit.Shared)
	}
	inside, _ := filepath.Glob(filepath.Join(w.Unit.Credentials, "*")) // the pattern is well-formed
	var seen, open, remedy []string
	for _, path := range append(paths, inside...) {
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return Result{Check: check, State: Skipped, Seen: "this user can't read their modes: " + path}
		}
		seen = append(seen, path)
		mode, most := info.Mode().Perm(), w.most(path, info)
		if mode&^most != 0 {
			open = append(open, fmt.Sprintf("%s has mode %04o", path, mode))
			fix := fmt.Sprintf("chmod %04o %s", mode&most, path)
			if path == w.Unit.Shared { // it is root's, and operators read it with each command
				fix = "move the secrets to the tenants' credentials, or: chgrp async-worker " + path + " && " + fix
			}
			remedy = append(remedy, fix)
		}
	}
	switch {
	case len(open) > 0:
		return Result{
			Check: check, State: Fail, Class: Permission, Seen: strings.Join(open, "; ") + ": others can read secrets",
			Remedy: "as root: " + strings.Join(remedy, "; "),
		}
	case len(seen) == 0:
		return Result{
			Check: check, State: Skipped, Seen: "there is neither " + w.Unit.EnvFile + " nor " + w.Unit.Credentials,
		}
	}
	return ok(check, "%d files and folders, none of which others can read", len(seen))
}

// most returns the widest mode that a file may have. Any group may read environment files; only operators may read
// credentials.
func (w *Worker) most(path string, info fs.FileInfo) fs.FileMode {
	if path == w.Unit.EnvFile || path == w.Unit.Shared {
		return 0o740
	}
	if s, known := info.Sys().(*syscall.Stat_t); known && w.Unit.Operators != "" &&
		strconv.FormatUint(uint64(s.Gid), 10) == w.Unit.Operators {
		return 0o750
	}
	return 0o700
}

func (w *Worker) enabled(ctx context.Context) Result {
	const check = "unit"
	var state string
	err := w.within(ctx, func(ctx context.Context) (err error) {
		state, err = w.Unit.Enabled(ctx)
		return err
	})
	switch {
	case err != nil:
		return Result{Check: check, State: Skipped, Seen: "systemd does not report it: " + err.Error()}
	case state == "":
		return Result{Check: check, State: Skipped, Seen: "this system was not started by systemd"}
	case state == "enabled" || state == "enabled-runtime":
		return ok(check, "%s is %s", w.Unit.Unit, state)
	}
	return Result{
		Check: check, State: Warn, Seen: w.Unit.Unit + " is " + state + ": it does not start with the machine",
		Remedy: "systemctl enable --now " + w.Unit.Unit,
	}
}
