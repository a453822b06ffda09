package object

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// until reads up to a byte that ends the data.
type until struct {
	in  *bufio.Reader
	end byte
}

func (u *until) Read(p []byte) (int, error) {
	if _, err := u.in.Peek(1); err != nil {
		return 0, err
	}
	ahead, _ := u.in.Peek(min(u.in.Buffered(), len(p))) // it is in the buffer
	if i := bytes.IndexByte(ahead, u.end); i == 0 && len(p) > 0 {
		return 0, io.EOF
	} else if i > 0 {
		ahead = ahead[:i]
	}
	return u.in.Read(p[:len(ahead)])
}

// hexadecimal decodes pairs of digits and skips what is none (7.4.2).
type hexadecimal struct {
	in   io.Reader
	high byte // the first digit of a pair
	half bool // there is one
}

func (h *hexadecimal) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	digits := make([]byte, min(2*len(p)-1, 4<<10))
	for {
		n := 0
		read, err := h.in.Read(digits)
		for _, c := range digits[:read] {
			v, ok := digit(c)
			if ok && h.half {
				p[n] = h.high<<4 | v
				n++
			}
			if ok {
				h.high, h.half = v, !h.half
			}
		}
		if errors.Is(err, io.EOF) && h.half && n < len(p) {
			p[n], h.half = h.high<<4, false
			n++
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// digit returns the value of a hexadecimal digit.
func digit(c byte) (v byte, ok bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}
