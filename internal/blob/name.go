package blob

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// MaxName is the most characters of a name, as on Azure.
const MaxName = 1024

// CheckName refuses a name that leaves the container, or that storage can't keep apart from another. Its
// error is a validation_error that says what is wrong, fit for the sender of the task. Spaces, %, #, ?
// and all other printable characters are fine.
func CheckName(name string) error {
	wrong := wrongWith(name)
	if wrong == "" {
		return nil
	}
	return taskerr.Errorf(taskerr.ValidationError, "the blob name %s %s", shown(name), wrong)
}

func wrongWith(name string) string {
	segments := strings.Split(name, "/")
	switch {
	case name == "":
		return "is empty"
	case !utf8.ValidString(name):
		return "is not valid UTF-8"
	case strings.ContainsFunc(name, unicode.IsControl):
		return "contains a control character"
	case utf8.RuneCountInString(name) > MaxName:
		return "is longer than 1024 characters"
	case strings.ContainsRune(name, '\\'):
		return `contains a backslash; write "/" between folders`
	case strings.HasPrefix(name, "/"):
		return `starts with "/"; names are relative to the container`
	case strings.HasSuffix(name, "/"):
		return `ends with "/" and so names a folder, not a file`
	case slices.Contains(segments, ".."):
		return `contains ".." as a folder; names can't leave the container`
	case slices.Contains(segments, "."):
		return `contains "." as a folder; leave it out`
	}
	return ""
}

// shown quotes a name for people, cut when it is long.
func shown(name string) string {
	const most = 80
	runes := []rune(name)
	if len(runes) > most {
		return quote(string(runes[:most])) + "…"
	}
	return quote(name)
}

func quote(s string) string {
	return `"` + strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s) + `"`
}
