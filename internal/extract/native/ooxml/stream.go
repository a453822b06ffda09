package ooxml

import (
	"context"
	"io"
)

// ReadStream calls read with the tokens of XML that is not in a package. The named characters of HTML and ISO are known
// to it, because documents use them with the DTDs that define them. Its errors are those of Package.Read.
func ReadStream(ctx context.Context, r io.Reader, depth int, read func(*Decoder) error) error {
	d := newDecoder(ctx, r, depth)
	d.names = newNames(d.meter.r)
	d.meter.r, d.xml.Entity = d.names, d.names.known
	return explain(read(d), "", d.line())
}
