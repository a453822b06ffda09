package pages

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/ocr"
)

// Cache keeps readings, so that another attempt, also of another worker, reads no page again. It never
// fails: what can't be had is read, what can't be kept is read again next time.
type Cache interface {
	// Get returns the readings of the pages from first on, at most count of them, that a source (the
	// SHA-256 of a document's bytes in hex) has of a reader (an engine with its version and options).
	Get(ctx context.Context, source, reader string, first, count int) map[int][]byte
	// Put keeps the reading of a page.
	Put(ctx context.Context, source, reader string, page int, reading []byte)
}

const (
	// batch is how many pages are fetched at once.
	batch = 32
	// MaxReading bounds an encoded reading, in bytes. A page full of small print has some 40 KB.
	MaxReading = 256 << 10
	// maxDecoded bounds a decoded one.
	maxDecoded = 32 << 20
	// putTime is how long a page that was read may take to be kept, also when its task has just ended.
	putTime = 5 * time.Second
)

// readings are those of one document.
type readings struct {
	cache  Cache
	source func() (string, error)
	reader string

	mu    sync.Mutex
	asked map[int]bool // batches
	found map[int][]byte
}

func (r *readings) get(ctx context.Context, page int) (ocr.Page, bool) {
	if r == nil {
		return ocr.Page{}, false
	}
	source, err := r.source()
	if err != nil {
		return ocr.Page{}, false
	}
	r.mu.Lock()
	if at := (page - 1) / batch; !r.asked[at] {
		if r.asked == nil {
			r.asked, r.found = map[int]bool{}, map[int][]byte{}
		}
		r.asked[at] = true
		maps.Copy(r.found, r.cache.Get(ctx, source, r.reader, at*batch+1, batch))
	}
	reading, ok := r.found[page]
	delete(r.found, page)
	r.mu.Unlock()
	if !ok {
		return ocr.Page{}, false
	}
	p, err := decode(reading)
	return p, err == nil
}

func (r *readings) put(ctx context.Context, page int, p ocr.Page) {
	if r == nil {
		return
	}
	source, err := r.source()
	if err != nil {
		return
	}
	reading, err := encode(p)
	if err != nil || len(reading) > MaxReading {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), putTime)
	defer cancel()
	r.cache.Put(ctx, source, r.reader, page, reading)
}

// encode writes a page as JSON, compressed by gzip.
func encode(p ocr.Page) ([]byte, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if err := json.NewEncoder(w).Encode(p); err != nil {
		return nil, fmt.Errorf("encode a reading: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("compress a reading: %w", err)
	}
	return b.Bytes(), nil
}

func decode(reading []byte) (ocr.Page, error) {
	r, err := gzip.NewReader(bytes.NewReader(reading))
	if err != nil {
		return ocr.Page{}, fmt.Errorf("unpack a reading: %w", err)
	}
	var p ocr.Page
	if err := json.NewDecoder(io.LimitReader(r, maxDecoded)).Decode(&p); err != nil {
		return ocr.Page{}, fmt.Errorf("decode a reading: %w", err)
	}
	return p, nil
}
