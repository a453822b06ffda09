package handlers

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// ReadPayload decodes a payload into a struct whose fields have json tags. Only these exact names count: encoding/json
// also accepts Filename for filename, so that an unknown field could replace a known one. The error is a
// validation_error; kinds describes the fields, e.g. "filename is a string".
func ReadPayload(raw json.RawMessage, into any, kinds string) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil || all == nil {
		return Invalid("payload", "is not an object")
	}
	ours := map[string]json.RawMessage{}
	for field := range reflect.TypeOf(into).Elem().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if value, there := all[name]; there {
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

// CheckSource checks the names of a document and its blob, and sets the blob's default.
func CheckSource(filename string, name *string) error {
	if filename == "" {
		return Invalid("payload.filename", "is missing; name the document")
	}
	if *name == "" {
		*name = filename
	}
	if err := blob.CheckName(filename); err != nil {
		return Invalid("payload.filename", "is refused: %s", taskerr.Classify(err).Message)
	}
	if err := blob.CheckName(*name); err != nil {
		return Invalid("payload.blob", "is refused: %s", taskerr.Classify(err).Message)
	}
	return nil
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
