package handlers

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// A whole number is one however it is written, as the schema of messages has it; what is none is refused.
func TestWholeNumbers(t *testing.T) {
	t.Parallel()
	type payload struct {
		Steps *int    `json:"steps"`
		Rows  int     `json:"rows"`
		Rate  float64 `json:"rate"`
	}
	for text, want := range map[string]string{
		`{"steps":100.0,"rows":1e2,"rate":1.50}`: `{"steps":100,"rows":100,"rate":1.5}`,
		`{"steps":-0.0,"rows":10e-1}`:            `{"steps":0,"rows":1,"rate":0}`,
		`{"steps":null,"rows":7}`:                `{"steps":null,"rows":7,"rate":0}`,
		`{"steps":100.5}`:                        "",
		`{"steps":"100"}`:                        "",
		`{"rows":1e300}`:                         "",
		`{"rows":true}`:                          "",
	} {
		var p payload
		err := ReadPayload(json.RawMessage(text), &p, "they are numbers")
		if want == "" {
			if err == nil || !strings.Contains(err.Error(), "wrong type") {
				t.Errorf("%s: %v, want an error", text, err)
			}
			continue
		}
		got, _ := json.Marshal(p)
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v, want %s", text, got, err, want)
		}
	}
}

// A sender who writes a field in camelCase means that field; anything else is ignored, and named.
func TestNames(t *testing.T) {
	t.Parallel()
	type payload struct {
		DocumentSet string `json:"document_set"`
		SourceURI   string `json:"source_uri,omitempty"`
	}
	of := Spec{Payload: reflect.TypeFor[payload]()}
	for text, want := range map[string]string{
		`{"documentSet":"s","metadata":{}}`:             "payload.documentSet is called document_set",
		`{"document_set":"s","sourceURI":"blob:a"}`:     "payload.sourceURI is called source_uri",
		`{"document_set":"s","documentSet":"s","a":{}}`: "",
		`{"DocumentSet":"s","documentset":"s","":1}`:    "",
		`{"read":true,"set":"s"}`:                       "",
		`[]`:                                            "",
	} {
		err := of.CheckNames(json.RawMessage(text))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	got := of.Unknown(json.RawMessage(`{"document_set":"s","metadata":{},"read":1,"colour":2}`))
	if !slices.Equal(got, []string{"payload.colour", "payload.read"}) {
		t.Errorf("unknown are %v", got)
	}
	if got := (Spec{}).Unknown(json.RawMessage(`{"a":1}`)); got != nil || (Spec{}).CheckNames(json.RawMessage(`{"a":1}`)) != nil {
		t.Errorf("of a type that does not tell its fields, unknown are %v", got)
	}
}
