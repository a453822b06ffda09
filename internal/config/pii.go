package config

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/seed-7227ef26/async-worker/internal/httpurl"
	"github.com/seed-7227ef26/async-worker/internal/privacy/kind"
)

func (l *loader) checkPII() {
	if l.fine("PII_MODE") && l.cfg.PII.Mode != PIIOff {
		l.checkKinds()
	}
	if httpurl.Exposed(l.cfg.PII.DetectorURL) {
		l.warn("PII_DETECTOR_URL", "the text of documents travels unencrypted over http",
			"use https, or a trusted network")
	}
}

// checkKinds refuses a list of kinds of which nothing is found, and, without a detector, one with a misspelt kind: personal
// data would go on to the model and the index. It warns of other kinds that nothing is known to find: a detector may have
// recognizers of the operator's, which the worker asks it for when it starts.
func (l *loader) checkKinds() {
	known, problem := names(kind.Patterns()), " is not a kind that is found without a detector"
	remedy := "use " + alternatives(known) + ", or set PII_DETECTOR_URL to a detector that finds it"
	if l.given("PII_DETECTOR_URL") {
		remedy = "use " + alternatives(known) + ", or a name of https://microsoft.github.io/presidio/supported_entities/, unless a " +
			"recognizer of your own finds it"
		known, problem = append(known, kind.Presidio()...), " is a kind neither of the worker nor of a recognizer that comes with Presidio"
	}
	var unknown []Problem
	maybe := false // a recognizer of the operator's finds it
	misspelt := false
	for _, k := range l.cfg.PII.Kinds {
		if ours, renamed := kind.OfPresidio(k); renamed {
			unknown = append(unknown, Problem{
				"PII_KINDS", fmt.Sprintf("%s is Presidio's name; the kind is called %s here", quoted(k), ours), "use " + string(ours),
			})
		} else if near := nearestKind(k, known); near != "" {
			unknown = append(unknown, Problem{"PII_KINDS", quoted(k) + problem, fmt.Sprintf("did you mean %s?", near)})
			misspelt, maybe = true, l.given("PII_DETECTOR_URL")
		} else if !slices.Contains(known, k) {
			unknown = append(unknown, Problem{"PII_KINDS", quoted(k) + problem, remedy})
			maybe = l.given("PII_DETECTOR_URL")
		}
	}
	say := l.warn
	if len(unknown) == len(l.cfg.PII.Kinds) && !maybe || misspelt && !l.given("PII_DETECTOR_URL") {
		say = l.problem
	}
	for _, p := range unknown {
		say(p.Name, p.Problem, p.Remedy)
	}
}

var countryPrefix = regexp.MustCompile(`^[A-Z]{2}_`)

// nearestKind returns our name of the known kind that k most likely means: one with a letter more, fewer or changed, or two
// changed places; empty: none, or k is known. Kinds of different countries are different, and so may short ones be (BBAN,
// IBAN).
func nearestKind(k string, known []string) string {
	if slices.Contains(known, k) {
		return ""
	}
	const least = 5 // letters
	country := countryPrefix.FindString(k)
	for _, name := range known {
		rest := name[len(countryPrefix.FindString(name)):]
		if countryPrefix.FindString(name) != country || len(rest) < least {
			continue
		}
		if d := EditDistance(k[len(country):], rest); d == 1 || d == 2 && sameLetters(k, name) {
			if ours, renamed := kind.OfPresidio(name); renamed {
				return string(ours)
			}
			return name
		}
	}
	return ""
}

func sameLetters(a, b string) bool {
	sorted := func(s string) string { return string(slices.Sorted(slices.Values([]byte(s)))) }
	return sorted(a) == sorted(b)
}

func names(kinds []kind.Kind) []string {
	all := make([]string, len(kinds))
	for i, k := range kinds {
		all[i] = string(k)
	}
	return all
}
