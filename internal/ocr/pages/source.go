package pages

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
)

// FileSource returns the SHA-256 of a file's bytes in hex, for Reader.Open.
func FileSource(path string) func() (string, error) {
	return func() (string, error) {
		file, err := os.Open(path)
		if err != nil {
			return "", fmt.Errorf("hash the document: %w", err)
		}
		defer func() { _ = file.Close() }() // read-only
		h := sha256.New()
		if _, err := io.Copy(h, file); err != nil {
			return "", fmt.Errorf("hash the document: %w", err)
		}
		return hex.EncodeToString(h.Sum(nil)), nil
	}
}
