package config

import (
	"fmt"
	"slices"

	"github.com/seed-7227ef26/async-worker/internal/httpurl"
	"github.com/seed-7227ef26/async-worker/internal/privacy/kind"
)

func (l *loader) checkPII() {
	off := l.fine("PII_MODE") && l.cfg.PII.Mode == PIIOff
	for _, name := range []string{"PII_KINDS", "PII_DETECTOR_URL"} {
		if l.given(name) && off {
			l.warn(name, "it is set, but PII_MODE is off: personal data are not looked for",
				"set PII_MODE to tag or redact, or unset it")
		}
	}
	if !off {
		l.checkKinds()
	}
	if httpurl.Exposed(l.cfg.PII.DetectorURL) {
		l.warn("PII_DETECTOR_URL", "the text of documents travels unencrypted over http",
			"use https, or a trusted network")
	}
}

// checkKinds refuses a list of kinds of which nothing is found: personal data would go on to the model and the index. It
// warns of kinds that nothing finds beside others. A detector may have kinds that only it knows.
func (l *loader) checkKinds() {
	known := kind.Patterns()
	var unknown []Problem
	for _, k := range l.cfg.PII.Kinds {
		switch ours, renamed := kind.OfPresidio(k); {
		case renamed:
			unknown = append(unknown, Problem{
				"PII_KINDS", fmt.Sprintf("%s is Presidio's name; the kind is called %s here", quoted(k), ours), "use " + string(ours),
			})
		case !l.given("PII_DETECTOR_URL") && !slices.Contains(known, kind.Kind(k)):
			unknown = append(unknown, Problem{
				"PII_KINDS", quoted(k) + " is not a kind that is found without a detector",
				"use " + alternatives(names(known)) + ", or set PII_DETECTOR_URL to a detector that finds it",
			})
		}
	}
	say := l.warn
	if len(unknown) == len(l.cfg.PII.Kinds) {
		say = l.problem
	}
	for _, p := range unknown {
		say(p.Name, p.Problem, p.Remedy)
	}
}

func names(kinds []kind.Kind) []string {
	all := make([]string, len(kinds))
	for i, k := range kinds {
		all[i] = string(k)
	}
	return all
}
