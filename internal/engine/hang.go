//go:build hang

package engine

import (
	"os"
	"path/filepath"
)

// hang blocks forever once the file hang exists in $RUNTIME_DIRECTORY; it removes the file. With it a test of the
// installed daemon sees the watchdog act. No release is built with this.
func hang() {
	if err := os.Remove(filepath.Join(os.Getenv("RUNTIME_DIRECTORY"), "hang")); err == nil {
		select {}
	}
}
