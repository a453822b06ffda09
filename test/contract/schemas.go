// Package contract makes docs/schemas from the Go types that the worker reads messages into and writes results
// from, and checks the decoder and the handlers against them.
package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/invopop/jsonschema"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

const module = "github.com/seed-7227ef26/async-worker"

// Schemas are the files of docs/schemas by name. root is the module's folder, whose comments become descriptions.
func Schemas(root string) (map[string][]byte, error) {
	sent, got := reflector(root, true), reflector(root, false)
	message, err1 := sent.message()
	webhook, err2 := got.webhook()
	if err := errors.Join(err1, err2, sent.err, got.err); err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for name, s := range map[string]*jsonschema.Schema{
		"message.schema.json": message, "webhook.schema.json": webhook, "deck.schema.json": got.deck(),
	} {
		text, err := json.MarshalIndent(s, "", "  ")
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", name, err)
		}
		files[name] = append(visible(text), '\n')
	}
	return files, nil
}

// visible escapes white space that nobody sees in a pattern.
func visible(text []byte) []byte {
	var out []byte
	for _, r := range string(text) {
		if r > unicode.MaxASCII && unicode.IsSpace(r) {
			out = fmt.Appendf(out, "\\u%04x", r)
			continue
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

// reader makes schemas of types.
type reader struct {
	*jsonschema.Reflector
	err error
}

// reflector's schemas are open: a worker ignores unknown fields, and later versions will send more. In messages a
// field with the tag is required; in results every field without omitempty is.
func reflector(root string, tagged bool) reader {
	r := reader{Reflector: &jsonschema.Reflector{
		Anonymous: true, AllowAdditionalProperties: true, DoNotReference: true, RequiredFromJSONSchemaTags: tagged,
	}}
	r.err = r.AddGoComments(module, root, jsonschema.WithFullComment())
	for name, comment := range r.CommentMap { // line ends of the source don't matter
		r.CommentMap[name] = strings.Join(strings.Fields(comment), " ")
	}
	// of types, not fields
	maps.DeleteFunc(r.CommentMap, func(name, _ string) bool { return strings.Count(path.Base(name), ".") < 2 })
	return r
}

// of is the schema of a value's type, without a version of its own.
func (r reader) of(value any, title string) *jsonschema.Schema {
	s := r.ReflectFromType(reflect.TypeOf(value))
	s.Version, s.Title = "", title
	s.Required = slices.DeleteFunc(s.Required,
		func(name string) bool { return slices.Contains(behindPointers(reflect.TypeOf(value), false), name) })
	return s
}

// behindPointers are the fields of an embedded pointer, which are absent when it is nil; the library treats them as
// those of an embedded struct.
func behindPointers(t reflect.Type, behind bool) (names []string) {
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && f.Type.Kind() == reflect.Pointer:
			names = append(names, behindPointers(f.Type.Elem(), true)...)
		case f.Anonymous:
			names = append(names, behindPointers(f.Type, behind)...)
		case behind:
			names = append(names, name)
		}
	}
	return names
}

func (r reader) message() (*jsonschema.Schema, error) {
	s := r.of(task.Message{}, "A task")
	s.Description = aboutMessages
	s.Definitions = jsonschema.Definitions{}
	all := shapes()
	types := slices.Sorted(maps.Keys(all))
	kinds := make([]any, 0, len(types))
	for _, t := range types {
		kinds = append(kinds, t)
		name := "payload." + string(t)
		payload := r.of(all[t].payload, "The payload of "+string(t))
		narrowTexts(payload)
		if narrow := all[t].narrow; narrow != nil {
			narrow(payload)
		}
		s.Definitions[name] = payload
		s.AllOf = append(s.AllOf, ofType(t, "payload", name))
	}
	kind, there := s.Properties.Get("task_type")
	payload, too := s.Properties.Get("payload")
	if !there || !too {
		return nil, errors.New("the message has no task_type or payload")
	}
	kind.Enum = kinds
	if at, there := s.Properties.Get("run_at"); there {
		at.Pattern = moment
	}
	*payload = jsonschema.Schema{Type: "object", Description: payload.Description}
	s.Version = jsonschema.Version
	return s, nil
}

func (r reader) webhook() (*jsonschema.Schema, error) {
	s := r.of(Webhook{}, "A webhook")
	s.Definitions = jsonschema.Definitions{}
	all := shapes()
	for _, t := range slices.Sorted(maps.Keys(all)) {
		name := "result." + string(t)
		s.AllOf = append(s.AllOf, ofType(t, "result", name))
		var some []*jsonschema.Schema
		for _, result := range all[t].results {
			some = append(some, r.of(result, ""))
		}
		title := "The result of " + string(t)
		if len(some) == 1 {
			some[0].Title = title
			s.Definitions[name] = some[0]
			continue
		}
		s.Definitions[name] = &jsonschema.Schema{Title: title, AnyOf: some}
	}
	for _, x := range [][2]string{{"task.completed", "result"}, {"task.failed", "error"}, {"task.rejected", "error"}} {
		s.AllOf = append(s.AllOf, &jsonschema.Schema{
			If: having("type", &jsonschema.Schema{Const: x[0]}), Then: &jsonschema.Schema{Required: []string{x[1]}},
		})
	}
	result, there := s.Properties.Get("result")
	if !there {
		return nil, errors.New("the webhook has no result")
	}
	*result = jsonschema.Schema{Type: "object", Description: result.Description}
	s.Version = jsonschema.Version
	return s, nil
}

// deck is the schema of a deck's JSON. Its objects are open: fields that others add are kept.
func (r reader) deck() *jsonschema.Schema {
	named := reader{Reflector: &jsonschema.Reflector{
		Anonymous: true, AllowAdditionalProperties: true, ExpandedStruct: true, CommentMap: r.CommentMap,
	}}
	s := named.of(deck.Deck{}, "A deck")
	for _, field := range []string{"values", "x", "sizes"} { // a point may be missing
		if list, there := s.Definitions["Series"].Properties.Get(field); there {
			list.Items = &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "number"}, {Type: "null"}}}
		}
	}
	s.Description = "The JSON of a deck, as convert tasks write it and export tasks read it: docs/decks.md. Lengths are in " +
		"EMU: 914,400 to the inch, 12,700 to the point. Fields that are not here are kept."
	s.Version = jsonschema.Version
	return s
}

// ofType requires a definition for a field if the type matches.
func ofType(t task.Type, field, definition string) *jsonschema.Schema {
	return &jsonschema.Schema{
		If: having("task_type", &jsonschema.Schema{Const: t}),
		Then: &jsonschema.Schema{
			Properties: having(field, &jsonschema.Schema{Ref: "#/$defs/" + definition}).Properties,
		},
	}
}

// having is an object whose field matches.
func having(field string, as *jsonschema.Schema) *jsonschema.Schema {
	s := &jsonschema.Schema{Properties: jsonschema.NewProperties(), Required: []string{field}}
	s.Properties.Set(field, as)
	return s
}
