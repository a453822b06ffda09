package app

import "testing"

// TestTrim: a program whose code was given back goes on.
func TestTrim(t *testing.T) {
	t.Parallel()
	for range 3 {
		if err := trim(); err != nil {
			t.Fatal(err)
		}
	}
}
