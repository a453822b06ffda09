package task

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"
)

// MaxBytes bounds a message's text, and what a claim check may name: 1 MiB. (Azure itself holds no
// more than 64 KiB in a queue.)
const MaxBytes = 1 << 20

// maxLayers bounds how often a text may be wrapped: a frontend that makes base64 of its JSON and
// hands it to a client library which does the same again makes two.
const maxLayers = 3

// space is what may stand around JSON, and anywhere in base64. U+FEFF is a byte order mark.
const space = " \t\r\n\uFEFF"

// unwrap takes base64 and JSON strings off a text until a JSON object's brace is its first
// character. JSON and base64 can't be mistaken for each other: no base64 begins with { or ".
func unwrap(text string) (string, *Invalid) {
	if len(text) > MaxBytes {
		return "", malformed("has %d bytes, more than the limit of %d", len(text), MaxBytes).
			withRemedy("put the task into a blob and send a claim check that names it")
	}
	for range maxLayers {
		text = strings.Trim(text, space)
		switch {
		case text == "":
			return "", malformed("is empty").withRemedy("send a task as a JSON object")
		case text[0] == '{':
			if !utf8.ValidString(text) {
				return "", malformed("is not valid UTF-8").withRemedy("encode the JSON as UTF-8")
			}
			return text, nil
		case text[0] == '"':
			var inner string
			if err := json.Unmarshal([]byte(text), &inner); err != nil {
				return "", notJSON(text, err)
			}
			text = inner
		default:
			decoded, ok := fromBase64(text)
			if !ok {
				return "", malformed("is neither a JSON object nor base64 of one").
					withRemedy("send a task as a JSON object, raw or base64")
			}
			text = decoded
		}
	}
	return "", malformed("is wrapped in base64 or JSON strings more than %d times", maxLayers-1).
		withRemedy("encode the JSON object once, or not at all")
}

// fromBase64 reads the standard and the URL alphabet, padded or not, with white space anywhere.
func fromBase64(text string) (string, bool) {
	bare := strings.Map(func(r rune) rune {
		switch r {
		case ' ', '\t', '\r', '\n':
			return -1
		case '-':
			return '+'
		case '_':
			return '/'
		default:
			return r
		}
	}, text)
	decoded, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(bare, "="))
	return string(decoded), err == nil
}

func (e *Invalid) withRemedy(remedy string) *Invalid {
	e.Remedy = remedy
	return e
}

func (e *Invalid) in(field string) *Invalid {
	e.Field = field
	return e
}

// notJSON says where a text stops being JSON without repeating any of it.
func notJSON(text string, err error) *Invalid {
	at := len(text)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = int(syntax.Offset)
	}
	return malformed("is not valid JSON: it breaks off or goes wrong at byte %d of %d", at, len(text)).
		withRemedy("check that it was not cut short and that its quotes are escaped")
}
