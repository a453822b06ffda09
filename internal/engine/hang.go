//go:build hang

package engine

import (
	"os"
	"path/filepath"
)

// hang blocks for ever once somebody has made the file hang in $RUNTIME_DIRECTORY, which it removes: so that a
// test of the installed daemon can see the watchdog end it. No release is built with this.
func hang() {
	if err := os.Remove(filepath.Join(os.Getenv("RUNTIME_DIRECTORY"), "hang")); err == nil {
		select {}
	}
}
