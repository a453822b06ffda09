package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/seed-7227ef26/async-worker/internal/engine"
)

const (
	// leastFree is how much of the disk of temporary files must be free for a machine that has lacked something, in
	// bytes: most documents fit. Of a disk that had less than twice that at the start, half of what it had.
	leastFree = 64 << 20
	// probedBytes is what the probe writes, in bytes, as a quota shows only when something is written.
	probedBytes = 1 << 20
	// probedFiles is how many files the probe opens at once: more than one document needs.
	probedFiles = 32
)

// machineProbe returns the probe of what tasks need of this machine: a disk with room in the folder of temporary files,
// and files that can be opened. It is asked when a task has failed for want of something.
func machineProbe(folder string) engine.Probe {
	least := uint64(leastFree)
	if free, err := freeBytes(folder); err == nil {
		least = min(least, free/2)
	}
	return func(context.Context) error {
		free, err := freeBytes(folder)
		if err != nil {
			return err
		}
		if free < least {
			return fmt.Errorf("%d MiB are free in %s: %w", free>>20, folder, syscall.ENOSPC)
		}
		return errors.Join(probeWrite(filepath.Join(folder, "probe")), probeFiles())
	}
}

func freeBytes(folder string) (uint64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil {
		return 0, fmt.Errorf("ask for the free space in %s: %w", folder, err)
	}
	return s.Bavail * uint64(s.Bsize), nil
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
