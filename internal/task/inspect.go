package task

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
)

// Bounds on the JSON of a message. They exclude what the database's jsonb can't hold, and nesting that would only hurt
// recursive readers.
const (
	maxDepth     = 64  // objects and arrays within each other, the message included
	maxNumber    = 400 // characters of a number
	maxPath      = 128 // bytes of a path in an error
	maxExponent  = 308 // decimal, either sign: the range of a double
	lowSurrogate = 0xDC00
)

// inspect scans valid JSON once and returns the first thing that can't be stored, with its path: too deep nesting,
// U+0000 or half a surrogate pair in a string (jsonb rejects both), a number out of range.
func inspect(text string) *Invalid {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var at position
	for {
		before := dec.InputOffset()
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return notJSON(text, err)
		}
		literal := strings.TrimLeft(text[before:dec.InputOffset()], " \t\r\n,:")
		if delim, ok := token.(json.Delim); ok {
			at.delimiter(delim)
			if len(at) > maxDepth {
				return malformed("is nested more than %d levels deep", maxDepth).in(at.path()).withRemedy("flatten it")
			}
			continue
		}
		key := at.scalar(token)
		switch value := token.(type) {
		case string:
			if problem := badEscape(literal); problem != "" {
				return malformed("%s", problem).in(at.path()).withRemedy("remove it; the database can't store it")
			}
		case json.Number:
			if !keepable(value.String()) {
				return malformed("is a number out of the range of a double").in(at.path()).
					withRemedy("send it as a string")
			}
		}
		if !key {
			at.done()
		}
	}
}

// position is the position of a scan of JSON: a level for each open object or array.
type position []level

type level struct {
	object bool
	key    string // of the current member; empty: a key follows
	named  bool   // the key has been read
	index  int    // of the current element
}

func (p *position) delimiter(d json.Delim) {
	switch d {
	case '{', '[':
		*p = append(*p, level{object: d == '{'})
	default:
		*p = (*p)[:len(*p)-1]
		p.done()
	}
}

// scalar records a token that is not a delimiter, and reports whether it is a member's key.
func (p *position) scalar(token json.Token) (key bool) {
	if len(*p) == 0 {
		return false
	}
	top := &(*p)[len(*p)-1]
	if name, ok := token.(string); ok && top.object && !top.named {
		top.key, top.named = name, true
		return true
	}
	return false
}

// done records the end of a value.
func (p *position) done() {
	if len(*p) == 0 {
		return
	}
	top := &(*p)[len(*p)-1]
	top.named, top.key = false, ""
	top.index++
}

func (p *position) path() string {
	var b strings.Builder
	for _, l := range *p {
		switch {
		case l.object && l.named:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(strings.Map(printable, l.key))
		case !l.object:
			b.WriteString("[" + strconv.Itoa(l.index) + "]")
		}
	}
	return clip(b.String(), maxPath)
}

func printable(r rune) rune {
	if !strconv.IsPrint(r) {
		return '?'
	}
	return r
}

// badEscape looks for escapes in a JSON string literal that a Postgres text can't hold. (encoding/json would silently
// replace half a surrogate pair by U+FFFD, but the payload is kept as written.)
func badEscape(literal string) string {
	for i := 0; i+1 < len(literal); i++ {
		if literal[i] != '\\' {
			continue
		}
		i++
		if literal[i] != 'u' {
			continue
		}
		unit := hex4(literal, i+1)
		i += 4
		switch {
		case unit == 0:
			return `has the character U+0000 ("\u0000") in it`
		case unit >= lowSurrogate && unit <= 0xDFFF:
			return `has half of a surrogate pair ("\uD800" to "\uDFFF") in it`
		case unit >= 0xD800 && unit < lowSurrogate:
			low := -1
			if strings.HasPrefix(literal[i+1:], `\u`) {
				low = hex4(literal, i+3)
			}
			if low < lowSurrogate || low > 0xDFFF {
				return `has half of a surrogate pair ("\uD800" to "\uDFFF") in it`
			}
			i += 6
		}
	}
	return ""
}

// hex4 reads four hexadecimal digits at i, or returns -1.
func hex4(s string, i int) int {
	if i+4 > len(s) {
		return -1
	}
	unit, err := strconv.ParseUint(s[i:i+4], 16, 16)
	if err != nil {
		return -1
	}
	return int(unit)
}

// keepable reports whether a number is one that both a double and Postgres' numeric can hold.
func keepable(number string) bool {
	if len(number) > maxNumber {
		return false
	}
	if i := strings.IndexAny(number, "eE"); i >= 0 {
		exponent, err := strconv.Atoi(number[i+1:])
		if err != nil || exponent < -maxExponent || exponent > maxExponent {
			return false
		}
	}
	value, err := strconv.ParseFloat(number, 64)
	return err == nil && !math.IsInf(value, 0)
}
