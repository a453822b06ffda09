package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestCommittedSamplesAreWhatTheSourceMakes(t *testing.T) {
	t.Parallel()
	for name, make := range documents {
		want, err := make()
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what the source makes: go run ./dev/samples/make dev/samples", name)
		}
	}
}
