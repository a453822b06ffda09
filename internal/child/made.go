package child

import (
	"errors"
	"os"
)

// ErrNotMade is the error for what a program left where its result should be, and what is none.
var ErrNotMade = errors.New("the program left no file of its own there")

// OpenMade opens a file that a program made in one of its folders, for reading. A document that has taken the program
// over may leave a link to a file that only the worker can read, or a pipe that no one writes to: that is ErrNotMade. The
// error for a missing file is fs.ErrNotExist.
func OpenMade(folder, name string) (*os.File, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // nothing was written
	if about, err := root.Lstat(name); err != nil {
		return nil, err
	} else if !about.Mode().IsRegular() {
		return nil, ErrNotMade
	}
	return root.Open(name)
}
