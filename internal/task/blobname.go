package task

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxBlobName is the largest number of characters in a blob's name, Azure's limit.
const MaxBlobName = 1024

// BlobNameProblem returns why a name can't be that of a blob in the tenant's container (I10), or "". Spaces, %, #, ? and
// all other printable characters are allowed.
func BlobNameProblem(name string) string {
	segments := strings.Split(name, "/")
	switch {
	case name == "":
		return "is missing or empty"
	case !utf8.ValidString(name):
		return "is not valid UTF-8"
	case strings.ContainsFunc(name, unicode.IsControl):
		return "contains a control character"
	case utf8.RuneCountInString(name) > MaxBlobName:
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
