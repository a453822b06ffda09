package agent

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

// maxEffort bounds the steps of one check: about half a second and 100 MB. Without it a schema of a kilobyte, whose
// parts name each other twice, takes a processor for ever, and the memory of the worker. So do patterns with
// repetitions: an instruction that is compiled is a step, and so are stepOfMatch that a match may look at.
const (
	maxEffort      = 200_000
	maxPatternSize = 20_000 // of one pattern, in instructions
	stepOfMatch    = 1_000  // bytes of the text times instructions
)

var errTooComplex = fmt.Errorf("checking a value takes more than %d steps, or a pattern has more than %d: use fewer "+
	"references in allOf, anyOf and oneOf, and smaller repetitions in patterns", maxEffort, maxPatternSize)

// effort counts the steps of a check, and of compiling the schema. It is not safe for concurrent use.
type effort struct {
	made     int
	parts    []part
	compiled map[string]matcher // since the steps are counted
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
	c.UseRegexpEngine(e.compile)
}

// compile compiles a pattern: one of the schema, for its check and for later, or a value whose format it is.
func (e *effort) compile(expression string) (jsonschema.Regexp, error) {
	if m, known := e.compiled[expression]; known {
		return m, nil
	}
	size, err := pattern.Size(expression)
	if err != nil {
		return nil, err
	}
	if size > maxPatternSize {
		panic(tooComplex{})
	}
	e.add(size)
	compiled, err := regexp.Compile(expression)
	if err != nil {
		return nil, err
	}
	m := matcher{compiled, size, e}
	e.compiled[expression] = m
	return m, nil
}

// matcher is a pattern whose matches are counted.
type matcher struct {
	*regexp.Regexp
	size   int
	effort *effort
}

func (m matcher) MatchString(s string) bool {
	m.effort.add(len(s) * m.size / stepOfMatch)
	return m.Regexp.MatchString(s)
}

// add counts steps, and ends a check that has too many.
func (e *effort) add(steps int) {
	if e.made += steps; e.made > maxEffort {
		panic(tooComplex{})
	}
}

// bound calls f, whose steps are counted from here on. The error is f's, or errTooComplex.
func (e *effort) bound(f func() error) (err error) {
	defer func() {
		switch reason := recover().(type) {
		case nil:
		case tooComplex:
			err = errTooComplex
		default:
			panic(reason)
		}
	}()
	e.made, e.compiled = 0, map[string]matcher{}
	return f()
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
			e.add(1 + p.width + length(v)*(1+p.names))
			return format.Validate(v)
		}}
	}
}

// validate returns what is wrong with a value; nil: nothing. The error is errTooComplex.
func (s *shape) validate(value any) (failed *jsonschema.ValidationError, err error) {
	err = s.effort.bound(func() error {
		failed, _ = errors.AsType[*jsonschema.ValidationError](s.compiled.Validate(value))
		return nil
	})
	return failed, err
}
