package handlers

import (
	"encoding/json"
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
