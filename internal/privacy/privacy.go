// Package privacy finds personal data in the text of a document, and counts or replaces it before the text
// goes to a model or into the index. What finds is a Detector: Patterns is one, presidio another.
package privacy

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Kind is a kind of personal data, in capitals. A Detector may have others than these.
type Kind string

// The kinds that Patterns finds.
const (
	Email      Kind = "EMAIL"
	Phone      Kind = "PHONE"
	IBAN       Kind = "IBAN"
	CreditCard Kind = "CREDIT_CARD"
	IPAddress  Kind = "IP_ADDRESS"
	NationalID Kind = "NATIONAL_ID" // of a person: social security and tax numbers
)

// Kinds lists those that Patterns finds.
func Kinds() []Kind { return []Kind{Email, Phone, IBAN, CreditCard, IPAddress, NationalID} }

// Mode says what is done about personal data.
type Mode string

// The modes.
const (
	Off    Mode = "off"    // it is not looked for
	Tag    Mode = "tag"    // it is counted by kind
	Redact Mode = "redact" // it is replaced by its kind in brackets, e.g. [EMAIL]
)

// Finding is the place of personal data in a text.
type Finding struct {
	Kind       Kind
	Start, End int     // bytes of the text
	Score      float64 // 0-1
}

// Detector finds personal data. It is safe for concurrent use.
type Detector interface {
	// Find returns the findings of each text, in any order; they may overlap. language is the texts' own
	// (ISO 639-1), or "und". Errors are *taskerr.Error; they never repeat the text.
	Find(ctx context.Context, texts []string, language string) ([][]Finding, error)
	// Version names the detector, e.g. "patterns@1". It changes when the same text would give other findings.
	Version() string
}

// All asks several detectors: what one of them finds is found.
func All(detectors ...Detector) Detector {
	if len(detectors) == 1 {
		return detectors[0]
	}
	return all(detectors)
}

type all []Detector

func (a all) Find(ctx context.Context, texts []string, language string) ([][]Finding, error) {
	found := make([][]Finding, len(texts))
	for _, d := range a {
		more, err := d.Find(ctx, texts, language)
		if err != nil {
			return nil, err
		}
		for i := range more {
			found[i] = append(found[i], more[i]...)
		}
	}
	return found, nil
}

func (a all) Version() string {
	names := make([]string, len(a))
	for i, d := range a {
		names[i] = d.Version()
	}
	return strings.Join(names, "+")
}

// distinct makes of findings that overlap one around them, of the kind that is surest, the longest of equals.
func distinct(findings []Finding) []Finding {
	findings = slices.Clone(findings)
	slices.SortFunc(findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End), cmp.Compare(a.Kind, b.Kind))
	})
	var apart []Finding
	var best Finding // of those that make up the last
	for _, f := range findings {
		if n := len(apart); n == 0 || f.Start >= apart[n-1].End {
			apart, best = append(apart, f), f
			continue
		}
		last := &apart[len(apart)-1]
		last.End = max(last.End, f.End)
		if f.Score > best.Score || f.Score == best.Score && f.End-f.Start > best.End-best.Start {
			best = f
		}
		last.Kind, last.Score = best.Kind, best.Score
	}
	return apart
}

// redact replaces the findings, which are distinct.
func redact(text string, findings []Finding) string {
	if len(findings) == 0 {
		return text
	}
	var b strings.Builder
	at := 0
	for _, f := range findings {
		b.WriteString(text[at:f.Start])
		b.WriteString("[" + string(f.Kind) + "]")
		at = f.End
	}
	b.WriteString(text[at:])
	return b.String()
}

// Counts are how often each kind was found.
type Counts map[Kind]int

func (c Counts) String() string {
	var all []string
	for _, k := range slices.Sorted(maps.Keys(c)) {
		all = append(all, fmt.Sprintf("%s: %d", k, c[k]))
	}
	return strings.Join(all, ", ")
}
