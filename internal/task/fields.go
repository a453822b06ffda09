package task

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// fields reads the members of a JSON object one by one, by their exact names (encoding/json ignores case), and records
// which were never read. Of a repeated name the last counts, as in encoding/json and jsonb. A reader returns the zero
// value for a member that is absent or null; a wrong value becomes the first error.
type fields struct {
	members map[string]json.RawMessage
	place   string // prefix of the object's fields in errors, e.g. "hints."
	err     *Invalid
	spoiled bool // something in the message can't be stored, so no payload of it is passed on
}

func (f *fields) fail(e *Invalid) {
	if f.err == nil {
		f.err = e
	}
}

func (f *fields) bad(name, problem, remedy string) {
	f.fail(&Invalid{Reason: InvalidField, Field: f.place + name, Problem: problem, Remedy: remedy})
}

// take returns a member and marks it as read; ok is false if it is absent or null.
func (f *fields) take(name string) (raw json.RawMessage, ok bool) {
	raw, ok = f.members[name]
	delete(f.members, name)
	return raw, ok && string(raw) != "null"
}

// text reads a string of at most limit bytes without control characters.
func (f *fields) text(name string, limit int) string {
	raw, ok := f.take(name)
	if !ok {
		return ""
	}
	s, ok := unescaped(raw)
	if !ok {
		if err := json.Unmarshal(raw, &s); err != nil {
			f.bad(name, "is "+kind(raw)+", not a string", "send it in double quotes")
			return ""
		}
	}
	if len(s) > limit {
		f.bad(name, "is longer than "+strconv.Itoa(limit)+" bytes", "shorten it")
		return ""
	}
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7F }) {
		f.bad(name, "has a control character in it", "remove it")
		return ""
	}
	return s
}

// number reads a number, or a string that holds one.
func (f *fields) number(name, remedy string) (float64, bool) {
	raw, ok := f.take(name)
	if !ok {
		return 0, false
	}
	literal, ok := scalar(raw)
	if !ok {
		f.bad(name, "is "+kind(raw)+", not a number", remedy)
		return 0, false
	}
	value, err := strconv.ParseFloat(literal, 64)
	if err != nil || math.IsNaN(value) || math.IsInf(value, 0) {
		f.bad(name, "is "+quote(literal)+", not a number", remedy)
		return 0, false
	}
	return value, true
}

// truth reads a boolean, or a string or number for one ("true", "1", "false", 0).
func (f *fields) truth(name string) bool {
	raw, ok := f.take(name)
	if !ok {
		return false
	}
	literal, ok := scalar(raw)
	value, err := strconv.ParseBool(strings.ToLower(literal))
	if !ok || err != nil {
		f.bad(name, "is neither true nor false", "send true or false")
		return false
	}
	return value
}

// maxIgnored is how many unknown names are kept for the log.
const maxIgnored = 32

// rest returns the names that were not read, sorted.
func (f *fields) rest() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(f.members)) {
		if len(names) == maxIgnored {
			break
		}
		names = append(names, f.place+clip(strings.Map(printable, name), maxQuoted))
	}
	return names
}

// Unknown names the members of a JSON object that are not among the known ones, after a prefix, as Task.Ignored has them.
func Unknown(object json.RawMessage, prefix string, known []string) []string {
	f := fields{place: prefix}
	if json.Unmarshal(object, &f.members) != nil {
		return nil
	}
	for _, name := range known {
		delete(f.members, name)
	}
	return f.rest()
}

// scalar returns the text of a JSON string, number or boolean.
func scalar(raw json.RawMessage) (string, bool) {
	switch raw[0] {
	case '"':
		var s string
		err := json.Unmarshal(raw, &s)
		return strings.TrimSpace(s), err == nil
	case '{', '[':
		return "", false
	default:
		return string(raw), true
	}
}

// kind returns the kind of a JSON value for an error.
func kind(raw json.RawMessage) string {
	switch raw[0] {
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "an array"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	default:
		return "a number"
	}
}
