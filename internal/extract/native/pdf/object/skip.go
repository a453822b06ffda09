package object

import (
	"strings"
	"sync"
)

// operators are those of content streams, so that they are not allocated for each use.
var operators = sync.OnceValue(func() map[string]Object {
	all := map[string]Object{}
	for op := range strings.FieldsSeq("b B b* B* BDC BI BMC BT BX c cm CS cs d d0 d1 Do DP EI EMC ET EX f F f* G g gs h i " +
		"ID j J K k l m M MP n q Q re RG rg ri s S SC sc SCN scn sh T* Tc Td TD Tf Tj TJ TL Tm Tr Ts Tw Tz v w W W* y ' \"") {
		all[op] = Operator(op)
	}
	return all
})

// skipText skips a string in parentheses, after the first one.
func (l *Lexer) skipText() error {
	for open := 1; ; {
		c, err := l.until("()\\")
		if err != nil {
			return err
		}
		switch c {
		case '(':
			open++
		case ')':
			if open--; open == 0 {
				return nil
			}
		default:
			if _, err := l.next(); err != nil { // an octal number has no other byte that counts
				return err
			}
		}
	}
}

// until skips to the next of some bytes and returns it.
func (l *Lexer) until(set string) (byte, error) {
	for {
		for n, c := range l.ahead() {
			if strings.IndexByte(set, c) >= 0 {
				l.at += n + 1
				return c, nil
			}
		}
		l.at = l.end
		if err := l.fill(); err != nil {
			return 0, err
		}
	}
}

// skipArray skips an array, after its bracket.
func (l *Lexer) skipArray(depth int) error {
	for {
		c, err := l.skip()
		if err != nil {
			return err
		}
		if l.items++; l.items > maxItems || depth > maxDepth {
			return errTooLarge
		}
		switch c {
		case ']':
			return nil
		case '(':
			err = l.skipText()
		case '{', '}', ')':
		case '[':
			err = l.skipArray(depth + 1)
		case '/', '<', '>':
			l.back()
			err = l.skipItem(depth + 1)
		default:
			l.back()
			var word []byte
			if word, err = l.token(); string(word) == "endobj" {
				return errSyntax
			}
		}
		if err != nil {
			return err
		}
	}
}

// skipItem skips an item of an array.
func (l *Lexer) skipItem(depth int) error {
	l.items-- // it is counted again
	o, err := l.object(depth)
	if o == Object(Operator(">>")) {
		return errSyntax
	}
	return err
}
