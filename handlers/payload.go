package handlers

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/source"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// ReadPayload decodes a payload into a struct whose fields have json tags. Only these exact names count: encoding/json
// also accepts Filename for filename, so that an unknown field could replace a known one. A whole number may be written as
// 100.0 or 1e2: some languages have no other numbers, and the message's schema and fingerprint know no difference. The
// error is a validation_error; kinds describes the fields, e.g. "filename is a string".
func ReadPayload(raw json.RawMessage, into any, kinds string) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil || all == nil {
		return Invalid("payload", "is not an object")
	}
	ours := map[string]json.RawMessage{}
	for field := range reflect.TypeOf(into).Elem().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if value, there := all[name]; there {
			if kind := field.Type; kind.Kind() == reflect.Int || kind == reflect.TypeFor[*int]() {
				value = whole(value)
			}
			ours[name] = value
		}
	}
	known, err := json.Marshal(ours)
	if err == nil {
		err = json.Unmarshal(known, into)
	}
	if err != nil {
		return Invalid("payload", "has a field of the wrong type (%s); %s", typeProblem(err), kinds)
	}
	return nil
}

// Unknown names the members of a payload that are not read, e.g. "payload.colour".
func (s Spec) Unknown(payload json.RawMessage) []string {
	if s.Payload == nil {
		return nil
	}
	return task.Unknown(payload, "payload.", s.names())
}

// CheckNames returns a validation_error about a member that is a missing field in camelCase, such as documentSet: its
// sender means that field.
func (s Spec) CheckNames(payload json.RawMessage) error {
	var given map[string]json.RawMessage
	if s.Payload != nil {
		_ = json.Unmarshal(payload, &given) // what is not an object is for Check
	}
	letters := func(name string) string { return strings.ReplaceAll(name, "_", "") }
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !camelCase(name) {
			continue
		}
		for _, known := range s.names() {
			if _, there := given[known]; !there && strings.EqualFold(letters(name), letters(known)) {
				return Invalid("payload."+name, "is called %s", known)
			}
		}
	}
	return nil
}

// camelCase reports whether a name begins with a small letter and has a capital one.
func camelCase(name string) bool {
	return name != "" && name[0] >= 'a' && name[0] <= 'z' && strings.ToLower(name) != name
}

// names are those of the fields, and of metadata, which the API shows of every job.
func (s Spec) names() []string {
	names := []string{"metadata"}
	for field := range s.Payload.Fields() {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// whole writes a JSON number that is a whole one as encoding/json takes it for an int; any other value stays as it is.
func whole(value json.RawMessage) json.RawMessage {
	const most = 1 << 53 // above it a double is not exact
	n, err := strconv.ParseFloat(string(value), 64)
	if err != nil || n != math.Trunc(n) || math.Abs(n) > most {
		return value
	}
	return strconv.AppendInt(nil, int64(n), 10)
}

// CheckSource checks what a payload says about a document: its name, and its blob or its source_uri. It returns where the
// document is, and sets the defaults of the others. The name stays empty if only the server of an address knows it; blob
// becomes the place's key.
func CheckSource(filename, name *string, uri string) (source.Place, error) {
	place := source.Place{Blob: *name}
	switch {
	case uri != "" && *name != "":
		return place, Invalid("payload.source_uri", "is given with payload.blob; give one of them")
	case uri != "":
		var problem string
		if place, problem = source.Parse(uri); problem != "" {
			return place, Invalid("payload.source_uri", "%s", problem)
		}
	case *filename == "":
		return place, Invalid("payload.filename", "is missing; name the document")
	case *name == "":
		place.Blob = *filename
	}
	setDefaults(place, filename, name)
	if *filename != "" {
		if err := blob.CheckName(*filename); err != nil {
			return place, Invalid("payload.filename", "is refused: %s", taskerr.Classify(err).Message)
		}
	}
	if place.Address == nil {
		if err := blob.CheckName(place.Blob); err != nil {
			return place, Invalid("payload.blob", "is refused: %s", taskerr.Classify(err).Message)
		}
	}
	return place, nil
}

// MaxIndexed is the most bytes of a filename and a document_set together that fit into an entry of the database's indexes: one
// of a B-tree has at most 2704, and a client and a version or time are in it, too.
const MaxIndexed = 2650

// CheckIndexed refuses a filename that doesn't fit into an index, before anything is paid for; set may be empty.
func CheckIndexed(filename, set string) error {
	if n := len(filename) + len(set); n > MaxIndexed {
		with := ""
		if set != "" {
			with = ", with its document_set"
		}
		return Invalid("payload.filename", "is too long: in UTF-8 it has %d bytes%s, and may have %d; "+
			"give the document a shorter filename, and name its blob in payload.blob", n, with, MaxIndexed)
	}
	return nil
}

// Locate is CheckSource's second step, when the task runs: the address of a blob in the tenant's own container becomes
// the blob. Another container of the account is a validation_error.
func Locate(f source.Fetcher, place source.Place, filename, name *string) (source.Place, error) {
	place, err := f.Locate(place)
	if err != nil {
		return place, err
	}
	setDefaults(place, filename, name)
	return place, nil
}

func setDefaults(place source.Place, filename, name *string) {
	if place.Address == nil && *filename == "" {
		*filename = place.Blob
	}
	*name = place.Key()
}

// Invalid returns the validation_error about a field.
func Invalid(field, format string, args ...any) *taskerr.Error {
	return taskerr.Errorf(taskerr.ValidationError, field+" "+format, args...)
}

// typeProblem names a field of the wrong type without its value.
func typeProblem(err error) string {
	if e, ok := err.(*json.UnmarshalTypeError); ok { //nolint:errorlint // json.Unmarshal returns it bare
		return fmt.Sprintf("%s has a value of the type %s", e.Field, e.Value)
	}
	return "it can't be read"
}
