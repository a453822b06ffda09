package task

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Fingerprint tells two tasks with one id apart (I5): the SHA-256, in hex, of the type and the payload. White space,
// the order of members, escapes in strings and the spelling of a number (1, 1.0, 1e0) make no difference; hints,
// webhook and priority are not included. A payload that is not JSON (decoding rejects it) is used as is.
func Fingerprint(t Task) string {
	canonical, err := canonicalJSON(t.Payload)
	if err != nil {
		canonical = t.Payload
	}
	sum := sha256.New()
	sum.Write([]byte(t.Type))
	sum.Write([]byte{0})
	sum.Write(canonical)
	return hex.EncodeToString(sum.Sum(nil))
}

// canonicalJSON writes JSON in one canonical form: members sorted by name, no white space, numbers by value. Unlike
// RFC 8785 it keeps numbers exact instead of rounding to doubles.
func canonicalJSON(text []byte) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return nil, fmt.Errorf("canonical JSON: %w", err)
	}
	out, err := json.Marshal(canonicalNumbers(value))
	if err != nil {
		return nil, fmt.Errorf("canonical JSON: %w", err)
	}
	return out, nil
}

func canonicalNumbers(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = canonicalNumbers(member)
		}
	case []any:
		for i, element := range v {
			v[i] = canonicalNumbers(element)
		}
	case json.Number:
		return json.Number(canonicalNumber(v.String()))
	}
	return value
}

// canonicalNumber writes a JSON number as an integer without trailing zeros and a power of ten: 1200, 1.2e3 and 1200.0
// are all 12e2.
func canonicalNumber(literal string) string {
	digits, negative := strings.CutPrefix(literal, "-")
	exponent := 0
	if i := strings.IndexAny(digits, "eE"); i >= 0 {
		e, err := strconv.Atoi(digits[i+1:])
		if err != nil {
			return literal // the exponent overflows; decoding rejects it
		}
		digits, exponent = digits[:i], e
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	digits = strings.TrimLeft(whole+fraction, "0")
	exponent -= len(fraction)
	bare := strings.TrimRight(digits, "0")
	exponent += len(digits) - len(bare)
	if bare == "" {
		return "0"
	}
	if exponent != 0 {
		bare += "e" + strconv.Itoa(exponent)
	}
	if negative {
		bare = "-" + bare
	}
	return bare
}
