package object

func (l *Lexer) array(depth int) (Object, error) {
	var out Array
	for {
		item, err := l.object(depth + 1)
		if err != nil {
			return nil, err
		}
		if op, ok := item.(Operator); ok {
			if op == "]" {
				return out, nil
			}
			if op == ">>" || op == "endobj" {
				return nil, errSyntax
			}
			continue
		}
		out = append(out, item)
	}
}

func (l *Lexer) dict(depth int) (Object, error) {
	out := Dict{}
	for {
		key, err := l.object(depth + 1)
		if err != nil {
			return nil, err
		}
		name, ok := key.(Name)
		if !ok {
			if key == Operator(">>") {
				return out, nil
			}
			if key == Operator("endobj") || key == Operator("stream") {
				return nil, errSyntax
			}
			continue
		}
		value, err := l.object(depth + 1)
		if err != nil {
			return nil, err
		}
		if value == Operator(">>") {
			return out, nil
		}
		out[name] = value
	}
}

// SkipImage skips an image within a content stream, after its operator BI (8.9.7).
func (l *Lexer) SkipImage() error {
	for {
		o, err := l.Next()
		if err != nil {
			return err
		}
		if o == Operator("ID") {
			break
		}
	}
	// The image ends with the operator EI between white space. Its bytes may look the same, but then what follows
	// is hardly text.
	const ahead = 8
	var last [3]byte
	for {
		c, err := l.next()
		if err != nil {
			return err
		}
		last = [3]byte{last[1], last[2], c}
		if isSpace(last[0]) && last[1] == 'E' && last[2] == 'I' {
			after := l.peek(ahead)
			if len(after) == 0 || isSpace(after[0]) && isText(after) {
				return nil
			}
		}
	}
}
