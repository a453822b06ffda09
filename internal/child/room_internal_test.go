package child

import (
	"errors"
	"os"
	"syscall"
	"testing"
)

// A program that fails, or makes something, on a full disk proves nothing about its document.
func TestCheckRoom(t *testing.T) {
	t.Parallel()
	well, failed := Result{End: Exited}, Result{End: Exited, ExitCode: 1}
	for name, tt := range map[string]struct {
		result  Result
		folders []string
		free    map[string]uint64
		full    bool
	}{
		"it fails with room":          {failed, []string{"out"}, map[string]uint64{"tmp": 1 << 30, "out": 1 << 30}, false},
		"it fails without":            {failed, nil, map[string]uint64{"tmp": 4 << 10}, true},
		"it succeeds without":         {well, nil, map[string]uint64{"tmp": 0}, false},
		"it makes files without":      {well, []string{"out"}, map[string]uint64{"tmp": 1 << 30, "out": 0}, true},
		"it makes files with room":    {well, []string{"out"}, map[string]uint64{"tmp": 0, "out": 1 << 30}, false},
		"it is killed, and disk full": {Result{End: Crashed, ExitCode: -1}, nil, map[string]uint64{"tmp": 0}, true},
	} {
		err := Command{Program: "x", Folders: tt.folders}.checkRoom(tt.result, "tmp", func(folder string) (uint64, error) {
			return tt.free[folder], nil
		})
		if errors.Is(err, syscall.ENOSPC) != tt.full {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What dup(2) answers to a number beyond the limit is a want of files, as EMFILE is.
func TestLackingFiles(t *testing.T) {
	t.Parallel()
	for errno, want := range map[syscall.Errno]syscall.Errno{
		syscall.EBADF: syscall.EMFILE, syscall.EMFILE: syscall.EMFILE, syscall.ENOENT: syscall.ENOENT,
	} {
		err := lackingFiles(&os.PathError{Op: "fork/exec", Path: "/bin/sh", Err: errno})
		if first, _ := errors.AsType[syscall.Errno](err); first != want || !errors.Is(err, errno) {
			t.Errorf("%v: %v", errno, err)
		}
	}
}
