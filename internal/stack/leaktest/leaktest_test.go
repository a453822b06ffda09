package leaktest

import (
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestUntil: a goroutine that ends while it is looked for is no leak; one that stays is found.
func TestUntil(t *testing.T) {
	others := goleak.IgnoreCurrent()
	searches, end, ended := 0, make(chan struct{}), make(chan struct{})
	go func() { defer close(ended); <-end }()
	search := func() error {
		if searches++; searches == 3 {
			close(end)
			<-ended
		}
		return goleak.Find(others)
	}
	if err := until(0, search); err == nil {
		t.Error("a goroutine that stays was not found")
	}
	if err := until(time.Hour, search); err != nil || searches < 3 {
		t.Errorf("after %d searches: %v", searches, err)
	}
}
