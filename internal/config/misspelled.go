package config

import (
	"fmt"
	"slices"
	"strings"
)

// checkCredentials warns of credentials whose names are close to a setting's.
func (l *loader) checkCredentials() {
	dir := l.env["CREDENTIALS_DIRECTORY"]
	if dir == "" || l.src.List == nil {
		return
	}
	var names []string
	for _, file := range l.src.List(dir) {
		names = append(names, strings.TrimPrefix(file, credentialPrefix))
	}
	l.cfg.warnings = append(l.cfg.warnings, misspelled(names, "unknown setting, in the folder of the credentials")...)
}

// misspelled warns of variables or files whose names are close to a setting's.
func misspelled(variables []string, problem string) []Problem {
	known := map[string]bool{}
	var names []string
	for _, s := range Settings() {
		known[s.Name], known[s.Name+"_FILE"] = true, true
		names = append(names, s.Name)
	}
	var out []Problem
	for _, variable := range variables {
		if known[variable] {
			continue
		}
		if meant := nearest(strings.TrimSuffix(variable, "_FILE"), names); meant != "" {
			out = append(out, Problem{variable, problem, fmt.Sprintf("did you mean %s?", meant)})
		}
	}
	slices.SortFunc(out, func(a, b Problem) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// nearest returns the name that variable probably means: the same except for the unit at its end, or at most two
// edits away (one in a short name). Empty: none.
func nearest(variable string, names []string) string {
	best, least := "", 3
	for _, name := range names {
		if unitless(variable) == unitless(name) {
			return name
		}
		if d := EditDistance(variable, name); d < least && (d == 1 || len(name) > 9) {
			best, least = name, d
		}
	}
	return best
}

func unitless(name string) string {
	for _, unit := range []string{"_SECONDS", "_SECS", "_SEC", "_S", "_MS", "_MB"} {
		if rest, ok := strings.CutSuffix(name, unit); ok {
			return rest
		}
	}
	return name
}

// EditDistance is the Levenshtein distance in bytes, for names in ASCII.
func EditDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
