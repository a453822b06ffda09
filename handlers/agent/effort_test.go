package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// doubling is a schema whose parts evaluate the one before twice, 2^n times the first; how puts one into another.
func doubling(n int, first, how string) string {
	parts := []string{`"p0":` + first}
	for i := 1; i <= n; i++ {
		ref := fmt.Sprintf(`{"$ref":"#/$defs/p%d"}`, i-1)
		parts = append(parts, fmt.Sprintf(`"p%d":`, i)+strings.ReplaceAll(how, "REF", ref))
	}
	return fmt.Sprintf(`{"$defs":{%s},"$ref":"#/$defs/p%d"}`, strings.Join(parts, ","), n)
}

// A schema that multiplies is refused with the task, or when an answer makes it do so.
func TestSchemaBombs(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"a":`, 40) + `7` + strings.Repeat(`}`, 40)
	var several strings.Builder
	for i := range 400 {
		fmt.Fprintf(&several, `{"pattern":"%d(?:.{9}){99}"},`, i)
	}
	large := `(?:` + strings.Repeat("a", 3_300) + `){1000}` // 130 MB
	wide := `{"allOf":[` + strings.Repeat(`{"type":"null"},`, 1000) + `{"type":"null"}]}`
	for name, c := range map[string]struct {
		schema, value string
		late          bool // the schema alone does not show it
	}{
		"all of":             {doubling(40, `{"type":"string"}`, `{"allOf":[REF,REF]}`), `"x"`, false},
		"any of":             {doubling(40, `{"type":"null"}`, `{"anyOf":[REF,REF]}`), `"x"`, false},
		"not any of":         {doubling(40, `{"type":"null"}`, `{"not":{"not":{"anyOf":[REF,REF]}}}`), `"x"`, false},
		"wide leaves":        {doubling(12, wide, `{"allOf":[REF,REF]}`), `"x"`, false},
		"draft 7":            {`{"$schema":"http://json-schema.org/draft-07/schema#",` + doubling(40, `{"type":"string"}`, `{"allOf":[REF,REF]}`)[1:], `"x"`, false},
		"pattern":            {`{"pattern":"` + large + `"}`, `"x"`, false},
		"property names":     {`{"patternProperties":{"` + large + `":{}}}`, `{}`, false},
		"many patterns":      {`{"anyOf":[` + several.String() + `{}]}`, `"x"`, false},
		"draft 4":            {`{"$schema":"http://json-schema.org/draft-04/schema#","pattern":"` + large + `"}`, `"x"`, false},
		"a pattern as value": {`{"$schema":"http://json-schema.org/draft-07/schema#","format":"regex"}`, `"` + large + `"`, true},
		"nested value":       {`{"$defs":{"n":{"properties":{"a":{"allOf":[{"$ref":"#/$defs/n"},{"$ref":"#/$defs/n"}]}}}},"$ref":"#/$defs/n"}`, deep, true},
		"long match": {
			`{"allOf":[` + strings.Repeat(`{"pattern":"(?:.?.?){99}$"},`, 60) + `{}]}`, `"` + strings.Repeat("x", 9_000) + `"`, true,
		},
		"names": {
			`{"$defs":{"n":{"type":"object","patternProperties":{"a":{"$ref":"#/$defs/n"},"^a":{"$ref":"#/$defs/n"}}}},"not":{"$ref":"#/$defs/n"}}`,
			deep, true,
		},
		"long value": {
			doubling(12, `{"items":{"type":"null"}}`, `{"allOf":[REF,REF]}`), `[` + strings.Repeat("1,", 2000) + `1]`, true,
		},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			s, err := newShape([]byte(c.schema))
			if !c.late {
				if !errors.Is(err, errTooComplex) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.check(json.RawMessage(c.value)); !errors.Is(err, errTooComplex) {
				t.Errorf("got %v", err)
			}
			if wrong, err := s.check(json.RawMessage(`{}`)); err != nil { // counted by itself
				t.Errorf("then %v %v", wrong, err)
			}
		})
	}
}

// What people write is far from the bound, also with the longest answers.
func TestSchemasThatAreNoBombs(t *testing.T) {
	t.Parallel()
	var properties, value []string
	for i := range 60 {
		properties = append(properties, fmt.Sprintf(`"field_%[1]d":{"anyOf":[{"type":"string","format":"date"},
			{"type":"string","pattern":"^%[1]d(\\pL.{1,200}){2}$"},{"$ref":"#/$defs/node"}]}`, i))
	}
	for i := range 400 {
		value = append(value, fmt.Sprintf(`{"field_%d":"2026-01-01","field_1":{"children":[{"children":[]}]}}`, i%60))
	}
	s, err := newShape(fmt.Appendf(nil, `{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{},"$defs":{
		"node":{"type":"object","required":["children"],"properties":{"children":{"type":"array","items":{"$ref":"#/$defs/node"}}}}},
		"type":"array","items":{"type":"object","additionalProperties":false,"properties":{%s}}}`, strings.Join(properties, ",")))
	if err != nil {
		t.Fatal(err)
	}
	if wrong, err := s.check(json.RawMessage("[" + strings.Join(value, ",") + "]")); len(wrong) > 0 || err != nil {
		t.Errorf("%v %v", wrong, err)
	}
	if s.effort.made > maxEffort/2 {
		t.Errorf("%d steps", s.effort.made)
	}
	if wrong, _ := s.check(json.RawMessage(`[{"field_0":"1"}]`)); len(wrong) == 0 {
		t.Error("the formats of draft 7 are not checked any more")
	}
}
