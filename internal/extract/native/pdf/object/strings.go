package object

// text reads a string in parentheses.
func (l *Lexer) text() (Object, error) {
	var out []byte
	add := func(c byte) {
		if len(out) < maxString {
			out = append(out, c)
		}
	}
	for open := 1; ; {
		c, err := l.next()
		if err != nil {
			return nil, err
		}
		switch c {
		case '(':
			open++
		case ')':
			if open--; open == 0 {
				l.held += len(out)
				return String(out), nil
			}
		case '\\':
			if err := l.escape(add); err != nil {
				return nil, err
			}
			continue
		}
		add(c)
	}
}

// escape reads what follows a backslash.
func (l *Lexer) escape(add func(byte)) error {
	c, err := l.next()
	if err != nil {
		return err
	}
	switch c {
	case 'n':
		add('\n')
	case 'r':
		add('\r')
	case 't':
		add('\t')
	case 'b':
		add('\b')
	case 'f':
		add('\f')
	case '\n':
	case '\r':
		if c, err := l.next(); err == nil && c != '\n' {
			l.back()
		}
	default:
		if c < '0' || c > '7' {
			add(c)
			return nil
		}
		v := c - '0'
		for range 2 {
			if c, err = l.next(); err != nil {
				return err
			}
			if c < '0' || c > '7' {
				l.back()
				break
			}
			v = v<<3 | (c - '0')
		}
		add(v)
	}
	return nil
}

func (l *Lexer) hex() (Object, error) {
	var out []byte
	half, high := false, byte(0)
	for {
		c, err := l.next()
		if err != nil {
			return nil, err
		}
		if c == '>' {
			if half {
				out = append(out, high<<4)
			}
			l.held += len(out)
			return String(out), nil
		}
		v, ok := digit(c)
		if !ok {
			continue
		}
		if half && len(out) < maxString {
			out = append(out, high<<4|v)
		}
		half, high = !half, v
	}
}

func isText(b []byte) bool {
	for _, c := range b {
		if c >= 0x7F || c < ' ' && !isSpace(c) {
			return false
		}
	}
	return true
}
