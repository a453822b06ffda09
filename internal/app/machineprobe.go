package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/seed-7227ef26/async-worker/internal/blob/dir"
	"github.com/seed-7227ef26/async-worker/internal/disk"
	"github.com/seed-7227ef26/async-worker/internal/engine"
)

const (
	// leastFree is how much of a disk that tasks write to must be free for a machine that has lacked something, in bytes:
	// most documents fit. Of a disk that had less than twice that at the start, half of what it had.
	leastFree = 64 << 20
	// probedBytes is what the probe writes, in bytes, as a quota shows only when something is written.
	probedBytes = 1 << 20
	// probedFiles is how many files the probe opens at once: more than one document needs.
	probedFiles = 32
)

// machineProbe returns the probe of what tasks need of this machine: disks with room for temporary files and, if they
// are files that it writes, for the blobs (else empty), which can be written, and files that can be opened. It is asked when a task has
// failed for want of something.
func machineProbe(temp, blobs string) engine.Probe {
	least := map[string]uint64{temp: leastFree}
	if blobs != "" {
		least[blobs] = leastFree
	}
	for folder, most := range least {
		if free, err := disk.Free(folder); err == nil {
			least[folder] = min(most, free/2)
		}
	}
	return func(ctx context.Context) error {
		for folder, least := range least {
			free, err := disk.Free(folder)
			if err != nil {
				return err
			}
			if free < least {
				return fmt.Errorf("%d MiB are free in %s: %w", free>>20, folder, syscall.ENOSPC)
			}
		}
		if blobs != "" {
			if err := dir.New(blobs).TryWrite(ctx, probedBytes); err != nil {
				return err
			}
		}
		return errors.Join(probeWrite(filepath.Join(temp, "probe")), probeFiles())
	}
}

// readOnly reports whether a folder of blobs is one that this process may only read. Then a write that fails is no trouble
// that passes: it fails its own task, and not all of them until the folder can be written.
func readOnly(ctx context.Context, blobs string) bool {
	err := dir.New(blobs).TryWrite(ctx, 1)
	return errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission)
}

func probeWrite(path string) error {
	err := os.WriteFile(path, make([]byte, probedBytes), 0o600)
	return errors.Join(err, os.RemoveAll(path))
}

func probeFiles() error {
	for range probedFiles {
		f, err := os.Open(os.DevNull)
		if err != nil {
			return err
		}
		defer f.Close() //nolint:gocritic // all are open at once
	}
	return nil
}
