package dashboard

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// maxFilter is the longest text of a filter, in bytes.
const maxFilter = 500

// filter is what somebody typed to narrow a list of jobs: words name:value, and text.
type filter struct {
	Text     string // as it was typed
	Query    store.JobQuery
	Problems []string // what of it was not understood, and how to write it
}

// statuses are the states of jobs in the order in which they are shown.
var statuses = []string{"running", "pending", "failed", "succeeded", "canceled"}

// parseFilter reads status:failed type:ingest since:1d set:reports class:timeout code:X priority:high by:anna and text.
// A value with spaces is quoted.
func parseFilter(text string, now time.Time) filter {
	text = strings.ToValidUTF8(text, "")
	if len(text) > maxFilter {
		text = strings.ToValidUTF8(text[:maxFilter], "")
	}
	f := filter{Text: strings.TrimSpace(text)}
	var plain []string
	for _, word := range split(f.Text) {
		name, value, ok := strings.Cut(word, ":")
		value = strings.Trim(value, `"`)
		if !ok || value == "" {
			plain = append(plain, strings.Trim(word, `"`))
			continue
		}
		known, err := f.qualifier(strings.ToLower(name), value, now)
		if err != nil {
			f.Problems = append(f.Problems, err.Error())
		}
		if !known {
			plain = append(plain, strings.Trim(word, `"`))
		}
	}
	f.Query.Text = strings.Join(plain, " ")
	return f
}

// split cuts a text at its spaces, but not within quotes.
func split(text string) (list []string) {
	var word strings.Builder
	quoted := false
	for _, c := range text {
		if c == '"' {
			quoted = !quoted
		}
		if c == ' ' && !quoted {
			if word.Len() > 0 {
				list = append(list, word.String())
			}
			word.Reset()
			continue
		}
		word.WriteRune(c)
	}
	if word.Len() > 0 {
		list = append(list, word.String())
	}
	return list
}

// qualifier reports whether name is that of a qualifier. The error says which values it takes.
func (f *filter) qualifier(name, value string, now time.Time) (bool, error) {
	q := &f.Query
	switch name {
	case "status", "state":
		value = strings.ToLower(value)
		if value == "waiting" {
			value = "pending"
		}
		if !slices.Contains(statuses, value) {
			return true, fmt.Errorf("status is one of %s", strings.Join(statuses, ", "))
		}
		q.Status = value
	case "priority":
		if q.Priority = strings.ToLower(value); !slices.Contains([]string{"high", "normal", "low"}, q.Priority) {
			q.Priority = ""
			return true, errors.New("priority is high, normal or low")
		}
	case "since", "before":
		at, err := parseTime(value, now)
		switch {
		case err != nil:
			return true, fmt.Errorf("%s is like 30min, 6h, 1d, 2w or 2026-11-24", name)
		case name == "since":
			q.Since = at
		default:
			q.Before = at
		}
	default:
		to := map[string]*string{
			"type": &q.Type, "set": &q.DocumentSet, "class": &q.Class, "code": &q.Code, "by": &q.RequestedBy,
		}[name]
		if to == nil {
			return false, nil
		}
		*to = value
	}
	return true, nil
}

// parseTime reads a time before now, as 1d, or a day or time.
func parseTime(text string, now time.Time) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04", time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyz")
	unit := map[string]time.Duration{
		"s": time.Second, "m": time.Minute, "min": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour,
	}[text[len(digits):]]
	n, err := strconv.Atoi(digits)
	if err != nil || unit == 0 || n < 0 || n > 10_000 {
		return time.Time{}, fmt.Errorf("%q is not a time", text)
	}
	return now.Add(-time.Duration(n) * unit), nil
}

// with is the filter's text with one qualifier replaced; an empty value takes it out.
func (f filter) with(name, value string) string {
	var kept []string
	for _, word := range split(f.Text) {
		if n, _, ok := strings.Cut(word, ":"); !ok || !strings.EqualFold(n, name) {
			kept = append(kept, word)
		}
	}
	if value != "" {
		kept = append([]string{term(name, value)}, kept...)
	}
	return strings.Join(kept, " ")
}

// failedLike is the filter of the failed jobs of a cause.
func failedLike(c store.FailureCause) string {
	terms := []string{"status:failed"}
	for _, t := range [][2]string{{"type", c.Type}, {"class", c.Class}, {"code", c.Code}} {
		if t[1] != "" {
			terms = append(terms, term(t[0], t[1]))
		}
	}
	return strings.Join(terms, " ")
}

// term writes a qualifier.
func term(name, value string) string {
	if strings.ContainsAny(value, " ") {
		value = `"` + strings.ReplaceAll(value, `"`, "") + `"`
	}
	return name + ":" + value
}

// query is the part of an address that narrows a list.
func query(pairs ...string) string {
	v := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			v.Set(pairs[i], pairs[i+1])
		}
	}
	if len(v) == 0 {
		return ""
	}
	return "?" + v.Encode()
}
