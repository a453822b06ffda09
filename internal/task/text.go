package task

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"
)

// MaxBytes is the largest size of a message's text, and of the content of a claim check: 1 MiB. (Azure holds up to 64
// KiB in a queue.)
const MaxBytes = 1 << 20

// maxLayers is how often a text may be wrapped: a frontend that encodes its JSON as base64 and uses a client library
// that does the same makes two layers.
const maxLayers = 3

// space is the white space allowed around JSON, and anywhere in base64. U+FEFF is a byte order mark.
const space = " \t\r\n\uFEFF"

// unwrap removes base64 and JSON strings from a text until it begins with a JSON object's brace. JSON and base64 can't
// be confused: base64 never begins with { or ".
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

// fromBase64 decodes the standard and the URL alphabet, padded or not, with white space anywhere.
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

// notJSON returns where a text stops being JSON, without quoting it.
func notJSON(text string, err error) *Invalid {
	at := len(text)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = int(syntax.Offset)
	}
	return malformed("is not valid JSON: it breaks off or goes wrong at byte %d of %d", at, len(text)).
		withRemedy("check that it was not cut short and that its quotes are escaped")
}
