package pageimage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/child"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// heicBrands are the brands of files of HEIF (ISO/IEC 23008-12) that libheif reads.
var heicBrands = []string{"heic", "heix", "hevc", "heim", "heis", "mif1", "msf1", "avif"}

// isHEIC recognizes HEIF by its first box.
func isHEIC(head []byte) bool {
	if len(head) < 12 || string(head[4:8]) != "ftyp" {
		return false
	}
	for _, brand := range heicBrands {
		if bytes.Equal(head[8:12], []byte(brand)) {
			return true
		}
	}
	return false
}

// Limits of libheif's converter for one image: its memory in bytes, of maxDecoded pixels and two copies of them.
const (
	heicMemory = 384 << 20
	heicTime   = time.Minute
)

// fromHEIC converts an image to PNG with libheif's program and opens the result, which has no name any more. Of several
// images it is the first one. temp is for the result.
func fromHEIC(ctx context.Context, path, temp string, pool *child.Pool) (_ *os.File, err error) {
	program, err := exec.LookPath("heif-dec")
	if err != nil {
		program, err = exec.LookPath("heif-convert")
	}
	if err != nil {
		return nil, &taskerr.Error{
			Class:   taskerr.UnsupportedFormat,
			Message: "this is a HEIC image, which is read with libheif, which is not installed where the worker runs: save it as JPEG",
			Hint:    "apt install libheif-examples",
		}
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find the image: %w", err)
	}
	dir, err := os.MkdirTemp(temp, "heic-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for an image: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	memory := int64(heicMemory)
	if pool != nil {
		memory = min(memory, pool.Largest(child.Step))
	}
	result, err := pool.Run(ctx, func() child.Command {
		return child.Command{
			Program: program, Args: []string{absolute, filepath.Join(dir, "image.png")}, Files: []string{absolute},
			Folders: []string{dir}, Dir: dir,
			Limits: child.Limits{Wait: heicTime, CPU: heicTime, Memory: memory, File: 4 * maxDecoded},
		}
	})
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"image.png", "image-1.png"} {
		if !result.OK() {
			break
		}
		if made, err := child.OpenMade(dir, name); err == nil {
			return made, nil
		}
	}
	if result.End != child.Exited {
		return nil, taskerr.Errorf(taskerr.QuotaExceeded,
			"the HEIC image takes too much memory or time to decode (%s): make it smaller, or save it as JPEG", result.End)
	}
	return nil, taskerr.Errorf(taskerr.CorruptionDetected, "the HEIC image is damaged or was cut off on its way: upload it again")
}
