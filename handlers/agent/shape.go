package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	localized "golang.org/x/text/message"
)

// shape is a JSON Schema that an answer must conform to.
type shape struct {
	raw      any // as decoded
	compiled *jsonschema.Schema
	strict   bool // it is within the subset that services enforce
	effort   effort
}

// noLoader loads nothing: a schema may refer only to itself.
type noLoader struct{}

func (noLoader) Load(string) (any, error) {
	return nil, errors.New("a reference outside of the schema is not followed")
}

func newShape(raw []byte) (*shape, error) {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, errors.New("it can't be read")
	}
	if depth(value) > maxDepth {
		return nil, fmt.Errorf("it is nested more than %d levels deep", maxDepth)
	}
	const name = schemaAddress
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	s := &shape{raw: value, strict: enforceable(value)}
	s.effort.watch(c)
	if err := s.effort.bound(func() (err error) {
		if err = c.AddResource(name, value); err == nil {
			s.compiled, err = c.Compile(name)
		}
		return err
	}); err != nil {
		return nil, schemaProblem(err)
	}
	s.effort.count()
	for _, simple := range []any{"", json.Number("0"), true, nil, []any{}, map[string]any{}} {
		if _, err := s.validate(simple); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// schemaAddress is the schema's address in the library. Without a scheme it would be a file in the working folder,
// which errors would name.
const schemaAddress = "schema://response_schema/"

// schemaProblem returns the library's error on one line, without schemaAddress.
func schemaProblem(err error) error {
	if errors.Is(err, errTooComplex) {
		return err
	}
	if invalid, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		err = invalid.Err
	}
	if failed, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		return errors.New(clip(strings.Join(problems(failed), "; "), 300))
	}
	text := strings.ReplaceAll(err.Error(), schemaAddress, "")
	return errors.New(clip(strings.Join(strings.Fields(text), " "), 300))
}

// check returns the problems of an answer, place by place; nil: it conforms. The error is errTooComplex.
func (s *shape) check(raw json.RawMessage) ([]string, error) {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return []string{"it is not JSON"}, nil //nolint:nilerr // that is the problem
	}
	failed, err := s.validate(value)
	if failed == nil {
		return nil, err
	}
	return problems(failed), nil
}

// problems returns the leaves of an error, at most 20.
func problems(e *jsonschema.ValidationError) (all []string) {
	if len(e.Causes) == 0 {
		return []string{
			fmt.Sprintf("at /%s: %s", strings.Join(e.InstanceLocation, "/"),
				clip(e.ErrorKind.LocalizedString(localized.NewPrinter(language.English)), 200)),
		}
	}
	for _, cause := range e.Causes {
		if all = append(all, problems(cause)...); len(all) >= 20 {
			return all[:20]
		}
	}
	return all
}

// places returns where an answer fails and by which keyword, without its content.
func places(raw json.RawMessage, s *shape) string {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return "it is not JSON"
	}
	failed, err := s.validate(value)
	if failed == nil || err != nil {
		return ""
	}
	var all []string
	var visit func(*jsonschema.ValidationError)
	visit = func(e *jsonschema.ValidationError) {
		if len(e.Causes) == 0 && len(all) < 5 {
			all = append(all, fmt.Sprintf("%s at /%s", strings.Join(e.ErrorKind.KeywordPath(), "/"),
				strings.Join(e.InstanceLocation, "/")))
		}
		for _, cause := range e.Causes {
			visit(cause)
		}
	}
	visit(failed)
	return clip(strings.Join(all, ", "), 300)
}

func depth(v any) int {
	deepest := 0
	switch v := v.(type) {
	case map[string]any:
		for _, of := range v {
			deepest = max(deepest, depth(of))
		}
	case []any:
		for _, of := range v {
			deepest = max(deepest, depth(of))
		}
	default:
		return 0
	}
	return deepest + 1
}

// enforceable reports whether a schema is likely within the subset of OpenAI's structured outputs: each object lists all
// its properties as required and allows no others. If the service rejects it, the next request omits it.
func enforceable(v any) bool {
	switch v := v.(type) {
	case []any:
		for _, of := range v {
			if !enforceable(of) {
				return false
			}
		}
	case map[string]any:
		for _, keyword := range []string{
			"allOf", "oneOf", "not", "if", "patternProperties", "dependentRequired",
			"dependentSchemas", "prefixItems", "$dynamicRef",
		} {
			if _, there := v[keyword]; there {
				return false
			}
		}
		if !closed(v) {
			return false
		}
		for _, of := range v {
			if !enforceable(of) {
				return false
			}
		}
	}
	return true
}

// closed reports whether an object's schema requires all its properties and allows no others; true for other types.
func closed(schema map[string]any) bool {
	properties, ok := schema["properties"].(map[string]any)
	if !ok {
		return schema["type"] != "object"
	}
	required, _ := schema["required"].([]any)
	return schema["additionalProperties"] == false && len(required) == len(properties)
}

// within returns the schema for use inside another one, at place: it adapts the references to itself.
func within(v any, place string) any {
	switch v := v.(type) {
	case []any:
		moved := make([]any, len(v))
		for i := range v {
			moved[i] = within(v[i], place)
		}
		return moved
	case map[string]any:
		moved := make(map[string]any, len(v))
		for key, of := range v {
			ref, isText := of.(string)
			switch {
			case key == "$ref" && isText && strings.HasPrefix(ref, "#"):
				moved[key] = place + strings.TrimPrefix(ref, "#")
			case key == "enum" || key == "const" || key == "default" || key == "examples" || key == "$schema" ||
				key == "$id":
				if key != "$schema" && key != "$id" {
					moved[key] = of
				}
			default:
				moved[key] = within(of, place)
			}
		}
		return moved
	}
	return v
}
