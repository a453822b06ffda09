package wellformed

import (
	"encoding/json"
	"errors"
	"io"
)

// JSON reads r to its end and returns nil if it is one JSON object: ErrEmpty, an *Error, or the error of r.
func JSON(r io.Reader, l Limits) error {
	l = l.withDefaults()
	from := &source{from: r, limit: l.Token}
	decoder := json.NewDecoder(from)
	decoder.UseNumber()
	from.used = decoder.InputOffset
	depth, values := 0, 0
	for {
		token, err := decoder.Token()
		at := decoder.InputOffset()
		switch {
		case from.failed != nil:
			return from.failed
		case errors.Is(err, io.EOF) && depth == 0 && values == 0:
			return ErrEmpty
		case errors.Is(err, io.EOF) && depth == 0:
			return nil
		case errors.Is(err, errToken):
			return broken(at, "a key or value is larger than %d MB", l.Token>>20)
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return broken(at, "it ends in the middle")
		case err != nil:
			return broken(at, "it is not JSON")
		}
		delim, isDelim := token.(json.Delim)
		if depth == 0 {
			if values++; values > 1 {
				return broken(at, "it has more than one value")
			}
			if !isDelim || delim != '{' {
				return broken(at, "it is not a JSON object")
			}
		}
		switch {
		case isDelim && (delim == '{' || delim == '['):
			if depth++; depth > l.Depth {
				return broken(at, "it is nested more than %d levels deep", l.Depth)
			}
		case isDelim:
			depth--
		}
	}
}
