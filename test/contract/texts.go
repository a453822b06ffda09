package contract

import "github.com/invopop/jsonschema"

// aboutMessages says what a message is, and what a schema can't say of it. TestBeyondTheSchema has a message for each.
const aboutMessages = "What a frontend puts on a tenant's queue, raw or as base64. What conforms is accepted, but for what a " +
	"schema can't say: names and prefixes that no blob can have, lengths in bytes, pages that run backwards, hosts in brackets " +
	"that are not an IPv6 address, languages that do not exist or that the OCR engine lacks, a response_schema that refers to " +
	"others, is nested more than 32 levels deep or is too complex, or whose patterns or own $schema are wrong, another " +
	"tenant's client_id, a run_at more than a year ahead, U+0000 and half a surrogate pair, nesting of more than 64 levels, " +
	"numbers out of the range of a double or of more than 400 characters. More spellings are accepted, too: see contract.md."

// Patterns that the tags of several payloads would repeat. They are in the syntax that ECMA 262 and Go's regexp share, and
// name white space themselves: \s is another set in each validator.
const (
	// wide are the white space characters beyond Latin 1, as unicode.IsSpace has them, in a class.
	wide = "\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
	// visibleRune is a character that is neither control nor white space.
	visibleRune = `[^\x00-\x20\x7f-\xa0` + wide + `]`
	setName     = visibleRune + `([^\x00-\x1f\x7f-\x9f]*` + visibleRune + `)?`
	// spoken is a text that is not white space alone.
	spoken = `[^\t-\r \x85\xa0` + wide + `]`

	port    = `(:(0*([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?)?`
	percent = `%[0-9A-Fa-f]{2}`
	address = `https://(([A-Za-z0-9._~-]|[^\x00-\x7f])+|\[[0-9A-Fa-f:.]+\])` + port +
		`(/([^\x00-\x1f\x7f%?#]|` + percent + `)*)?(\?[^\x00-\x1f\x7f#]*)?(#([^\x00-\x1f\x7f%]|` + percent + `)*)?`
	sourceURI = `^(blob:[^/].*|` + address + `)$`

	page  = `([1-9][0-9]{0,5}|1000000)`
	span  = page + `(-` + page + `)?`
	pages = `^(` + span + `(,` + span + `)*)?$`

	moment = `^[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-5][0-9](\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$`
)

// narrowTexts gives the fields of a payload their patterns.
func narrowTexts(payload *jsonschema.Schema) {
	for name, pattern := range map[string]string{
		"document_set": "^" + setName + "$", "source_uri": sourceURI, "pages": pages, "prompt": spoken,
	} {
		if field, there := payload.Properties.Get(name); there {
			field.Pattern = pattern
		}
	}
	if history, there := payload.Properties.Get("history"); there {
		if content, there := history.Items.Properties.Get("content"); there {
			content.Pattern = spoken
		}
	}
}
