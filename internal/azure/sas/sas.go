// Package sas reads shared access signatures of Azure Storage.
package sas

import (
	"net/url"
	"strings"
	"time"
)

// Parse returns the parameters of a signature, with or without the question mark before it.
func Parse(signature string) (url.Values, error) {
	return url.ParseQuery(strings.TrimPrefix(signature, "?"))
}

// End returns when a signature expires, if it says so itself: one by a stored access policy need not.
func End(signature url.Values) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z", time.DateOnly} {
		if t, err := time.Parse(layout, signature.Get("se")); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
