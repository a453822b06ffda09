package agent

import (
	"errors"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxEffort bounds the steps of one check: about half a second and 100 MB. Without it a schema of a kilobyte, whose
// parts name each other twice, takes a processor for ever, and the memory of the worker.
const maxEffort = 200_000

var errTooComplex = fmt.Errorf("its parts refer to each other so often that checking a value takes more than %d steps: "+
	"use fewer references in allOf, anyOf and oneOf", maxEffort)

// effort counts the steps of a check. It is not safe for concurrent use.
type effort struct {
	made  int
	parts []part
}

// part is a part of a schema that can be evaluated by itself.
type part struct {
	schema *jsonschema.Schema
	width  int // about how many others it evaluates for the same value
	names  int // how many it evaluates for each property
}

// tooComplex ends a check: the library has no other way to stop one.
type tooComplex struct{}

// watch makes c collect the parts of what it compiles.
func (e *effort) watch(c *jsonschema.Compiler) {
	c.RegisterVocabulary(&jsonschema.Vocabulary{
		URL: schemaAddress + "effort",
		Compile: func(ctx *jsonschema.CompilerContext, object map[string]any) (jsonschema.SchemaExt, error) {
			e.parts = append(e.parts, part{ctx.Enqueue(nil), width(object), length(object["patternProperties"])})
			return nil, nil //nolint:nilnil // there is no keyword of ours
		},
	})
	c.AssertVocabs()
}

func width(object map[string]any) (n int) {
	for _, v := range object {
		n += length(v)
	}
	return n
}

// length returns the number of values directly in v.
func length(v any) int {
	switch v := v.(type) {
	case []any:
		return len(v)
	case map[string]any:
		return len(v)
	}
	return 0
}

// count makes the parts count their evaluations. The check of a format comes before others are evaluated; what fails
// before it evaluates none, and is counted by its parent's width.
func (e *effort) count() {
	for _, p := range e.parts {
		format := jsonschema.Format{Validate: func(any) error { return nil }}
		if p.schema.Format != nil {
			format = *p.schema.Format
		}
		p.schema.Format = &jsonschema.Format{Name: format.Name, Validate: func(v any) error {
			if e.made += 1 + p.width + length(v)*(1+p.names); e.made > maxEffort {
				panic(tooComplex{})
			}
			return format.Validate(v)
		}}
	}
}

// validate returns what is wrong with a value; nil: nothing. The error is errTooComplex.
func (s *shape) validate(value any) (failed *jsonschema.ValidationError, err error) {
	defer func() {
		switch reason := recover().(type) {
		case nil:
		case tooComplex:
			failed, err = nil, errTooComplex
		default:
			panic(reason)
		}
	}()
	s.effort.made = 0
	failed, _ = errors.AsType[*jsonschema.ValidationError](s.compiled.Validate(value))
	return failed, nil
}
