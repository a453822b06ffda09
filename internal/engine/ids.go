package engine

import (
	"bufio"
	"crypto/rand"
	"sync"

	"github.com/google/uuid"
)

// ids makes random ids. It asks the kernel for the randomness of many at once.
type ids struct {
	mu     sync.Mutex
	random *bufio.Reader
}

func newIDs() *ids { return &ids{random: bufio.NewReaderSize(rand.Reader, 1024)} }

func (i *ids) next() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return uuid.Must(uuid.NewRandomFromReader(i.random)).String() // rand.Reader never fails
}
