package stack

import (
	"testing"
)

// TestFreePort: a port that was given is not given again, though its server does not listen.
func TestFreePort(t *testing.T) {
	t.Parallel()
	port, err := FreePort()
	if err != nil {
		t.Fatal(err)
	}
	if port < 20_000 || port > 32_767 {
		t.Errorf("port %d is one that the kernel gives to connections", port)
	}
	if reserve(port) == nil {
		t.Errorf("port %d was given twice", port)
	}
}
