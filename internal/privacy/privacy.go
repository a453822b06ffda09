// Package privacy finds personal data in the text of a document, and counts or replaces it before the text goes
// to a model or into the index. A Detector finds it: Patterns, or package presidio's.
package privacy

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/privacy/kind"
)

// Kind is a kind of personal data.
type Kind = kind.Kind

// The kinds that Patterns finds.
const (
	Email      = kind.Email
	Phone      = kind.Phone
	IBAN       = kind.IBAN
	CreditCard = kind.CreditCard
	IPAddress  = kind.IPAddress
	NationalID = kind.NationalID
)

// Mode is what is done with personal data.
type Mode string

// The modes.
const (
	Off    Mode = "off"    // it is not searched for
	Tag    Mode = "tag"    // it is counted by kind
	Redact Mode = "redact" // it is replaced by its kind in brackets, for example [EMAIL]
)

// Finding is a range of personal data in a text.
type Finding struct {
	Kind       Kind
	Start, End int     // bytes of the text
	Score      float64 // 0-1
}

// Detector finds personal data. It is safe for concurrent use.
type Detector interface {
	// Find returns the findings of each text, in any order; they may overlap. language is that of the texts
	// (ISO 639-1), or "und". Errors are *taskerr.Error and never quote the text.
	Find(ctx context.Context, texts []string, language string) ([][]Finding, error)
	// Version identifies the detector, for example "patterns@3". It changes when the same text would produce
	// other findings.
	Version() string
}

// All returns a Detector with the findings of all detectors.
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

// distinct merges overlapping findings into one, of the kind with the highest score, or of the longest for
// equal scores.
func distinct(findings []Finding) []Finding {
	findings = slices.Clone(findings)
	slices.SortFunc(findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End), cmp.Compare(a.Kind, b.Kind))
	})
	var apart []Finding
	var best Finding // of the findings merged into the last one
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

// redact replaces the findings, which must be distinct.
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

// Counts maps each kind to how often it was found.
type Counts map[Kind]int

func (c Counts) String() string {
	var all []string
	for _, k := range slices.Sorted(maps.Keys(c)) {
		all = append(all, fmt.Sprintf("%s: %d", k, c[k]))
	}
	return strings.Join(all, ", ")
}
