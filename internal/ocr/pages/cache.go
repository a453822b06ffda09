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

// Cache keeps readings, so that another attempt, also of another worker, reads no page again. It never fails: a
// missing reading is read, and one that can't be stored is read again next time.
type Cache interface {
	// Get returns the readings of up to count pages from first on, for a source (the SHA-256 of a document's
	// bytes in hex) and a reader (an engine with its version and options).
	Get(ctx context.Context, source, reader string, first, count int) map[int][]byte
	// Put stores the reading of a page.
	Put(ctx context.Context, source, reader string, page int, reading []byte)
}

const (
	// batch is how many pages are fetched at once.
	batch = 32
	// MaxReading limits an encoded reading, in bytes. A page full of small print has some 40 KB.
	MaxReading = 256 << 10
	// maxDecoded limits a decoded one.
	maxDecoded = 32 << 20
	// putTime is how long storing a page that was read may take, also if its task has just ended.
	putTime = 5 * time.Second
)

// readings are the cached readings of one document.
type readings struct {
	cache  Cache
	source func() (string, error)
	reader string

	mu      sync.Mutex
	fetched map[int]bool // batches that were fetched
	found   map[int][]byte
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
	if at := (page - 1) / batch; !r.fetched[at] {
		if r.fetched == nil {
			r.fetched, r.found = map[int]bool{}, map[int][]byte{}
		}
		r.fetched[at] = true
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

// encode encodes a page as JSON, compressed with gzip.
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
