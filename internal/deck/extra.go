package deck

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Extra are fields that this version doesn't know, by name. They are kept: what another program put into a deck is
// there after a round trip.
type Extra map[string]json.RawMessage

// decodeKeeping decodes an object, and returns its unknown fields. into points to a struct without methods.
func decodeKeeping(data []byte, into any) (Extra, error) {
	if err := json.Unmarshal(data, into); err != nil {
		return nil, err
	}
	if !mayHaveExtra(data) {
		return nil, nil
	}
	var all Extra
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, err
	}
	known := fieldsOf(reflect.TypeOf(into).Elem())
	// encoding/json also takes Title for title.
	maps.DeleteFunc(all, func(name string, _ json.RawMessage) bool {
		return slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) })
	})
	if len(all) == 0 {
		return nil, nil
	}
	for name, value := range all {
		all[name] = bytes.Clone(value)
	}
	return all, nil
}

// mayHaveExtra reports whether data is an object: null has no fields.
func mayHaveExtra(data []byte) bool { return len(data) > 2 && data[0] == '{' }

// encodeKeeping encodes a struct without methods, followed by unknown fields in the order of their names.
func encodeKeeping(value any, extra Extra) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(withoutNull(value)); err != nil {
		return nil, err
	}
	text := bytes.TrimRight(out.Bytes(), "\n")
	if len(extra) == 0 {
		return text, nil
	}
	joined := bytes.TrimSuffix(text, []byte("}"))
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		key, err := json.Marshal(name)
		if err != nil {
			return nil, fmt.Errorf("write the field %q: %w", name, err)
		}
		if len(joined) > 1 {
			joined = append(joined, ',')
		}
		joined = append(append(append(joined, key...), ':'), extra[name]...)
	}
	return append(joined, '}'), nil
}

// withoutNull is a struct whose lists are empty rather than null, unless they are left out.
func withoutNull(value any) any {
	v := reflect.New(reflect.TypeOf(value)).Elem()
	v.Set(reflect.ValueOf(value))
	for f, field := range v.Fields() {
		if field.Kind() == reflect.Slice && field.IsNil() && !strings.Contains(f.Tag.Get("json"), ",omitempty") {
			field.Set(reflect.MakeSlice(field.Type(), 0, 0))
		}
	}
	return v.Interface()
}

// fieldsOf are the names of a struct's fields in JSON.
func fieldsOf(t reflect.Type) []string {
	names := make([]string, 0, t.NumField())
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "-" && name != "" {
			names = append(names, name)
		}
	}
	return names
}
