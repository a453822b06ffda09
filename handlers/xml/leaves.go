package xml

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/seed-7227ef26/async-worker/internal/pattern"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// leaf is a value of the gateway's JSON.
type leaf struct {
	path   string // a JSON Pointer (RFC 6901)
	value  string
	number bool // a JSON number
}

// maxLeaves limits the values of an invoice; each costs tokens.
const maxLeaves = 4000

// flatten lists the values of a JSON document, without empty ones, in its order.
func flatten(raw []byte) ([]leaf, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var all []leaf
	err := walk(d, "", func(l leaf) error {
		if len(all) == maxLeaves {
			return &taskerr.Error{
				Class: taskerr.QuotaExceeded, Code: "XML_TOO_MANY_VALUES",
				Message: fmt.Sprintf(`the gateway read more than %d values, too many to check; send mode "direct"`, maxLeaves),
			}
		}
		all = append(all, l)
		return nil
	})
	return all, err
}

func walk(d *json.Decoder, path string, emit func(leaf) error) error {
	token, err := d.Token()
	if err != nil {
		return fmt.Errorf("read the gateway's JSON: %w", err) // it was checked when it came
	}
	switch v := token.(type) {
	case json.Delim:
		for i := 0; d.More(); i++ {
			name := strconv.Itoa(i)
			if v == '{' {
				key, err := d.Token()
				if err != nil {
					return fmt.Errorf("read the gateway's JSON: %w", err)
				}
				name = strings.NewReplacer("~", "~0", "/", "~1").Replace(fmt.Sprint(key))
			}
			if err := walk(d, path+"/"+name, emit); err != nil {
				return err
			}
		}
		_, err := d.Token()
		return err
	case json.Number:
		return emit(leaf{path, v.String(), true})
	case string:
		if strings.TrimSpace(v) == "" {
			return nil
		}
		return emit(leaf{path, v, false})
	default: // true, false and null state nothing that a document could have
		return nil
	}
}

// countable reports whether a value is an amount, a date or a number, or has one in it.
func (l leaf) countable() bool { return strings.ContainsFunc(l.value, unicode.IsDigit) }

var (
	// unitCode matches codes of units (UN/ECE Recommendation 20), such as C62.
	unitCode = pattern.New(`^[A-Z][A-Z0-9]{1,2}$`)
	// digitCode matches the codes of kinds of documents, means of payment and schemes, such as 380, 58 and 0088. An amount
	// looks the same, so the names in the path have to say that it is a code.
	digitCode = pattern.New(`^[0-9]{2,4}$`)
	ofDigits  = pattern.New(`(?i)(code|type|kind|scheme(id)?|means|format)(/[0-9]+)*(/([_$]|[#@]?(text|value)))?$`)
)

// maybeCode reports whether a value may be a code of a standard, which no invoice prints: never an amount.
func (l leaf) maybeCode() bool {
	return !l.number && (unitCode.MatchString(l.value) || digitCode.MatchString(l.value) && ofDigits.MatchString(l.path))
}
