package object

import (
	"context"
	"io"
)

// OpenWithin is Open, with less than what every file may cost: bytes of streams, and bytes of objects.
func OpenWithin(ctx context.Context, in io.ReaderAt, size, decoded, lexed int64) (*File, error) {
	return open(ctx, in, size, least{decoded, lexed})
}

// Notes is what Scan does with an open file.
func (f *File) Notes(ctx context.Context) (Found, error) { return f.scan(ctx) }

// Least is what every file that Open opened may cost.
func (f *File) Least() (decoded, lexed int64) { return f.least.decoded, f.least.lexed }
