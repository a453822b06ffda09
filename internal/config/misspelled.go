package config

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// checkNames warns of variables and credentials that are no settings: those whose names are close to a setting's, and all
// that a tenant has, unless a library reads them. A program's environment has many others, which are not its own.
func (l *loader) checkNames() {
	l.warnUnknown("unknown setting", slices.Collect(maps.Keys(l.env)), func(name string) bool { return l.src.Files[name] != "" })
	dir := l.env["CREDENTIALS_DIRECTORY"]
	if dir == "" || l.src.List == nil {
		return
	}
	named := map[string]bool{} // by a setting, in NAME_FILE
	for name, value := range l.env {
		if strings.HasSuffix(name, "_FILE") && filepath.Dir(value) == filepath.Clean(dir) {
			named[filepath.Base(value)] = true
		}
	}
	var names []string
	for _, file := range l.src.List(dir) {
		if !named[file] {
			names = append(names, strings.TrimPrefix(file, credentialPrefix))
		}
	}
	l.warnUnknown("unknown setting, in the folder of the credentials", names, func(string) bool { return true })
}

// Misspelled warns of variables whose names are close to a setting's.
func Misspelled(environ []string) []Problem {
	l := loader{env: environment(environ)}
	l.checkNames()
	return l.cfg.warnings
}

// warnUnknown warns of names that are no settings. meant reports whether a name without a similar setting was given to the
// worker on purpose.
func (l *loader) warnUnknown(problem string, given []string, meant func(name string) bool) {
	known := map[string]bool{}
	var names []string
	for _, s := range Settings() {
		known[s.Name], known[s.Name+"_FILE"] = true, true
		names = append(names, s.Name)
	}
	slices.Sort(given)
	for _, name := range given {
		if known[name] {
			continue
		}
		if near := nearest(strings.TrimSuffix(name, "_FILE"), names); near != "" {
			l.warn(name, problem, fmt.Sprintf("did you mean %s?", near))
		} else if settingLike.MatchString(name) && !libraryVariable.MatchString(name) && meant(name) {
			l.warn(name, problem+": the worker ignores it", "remove it, or correct its name: docs/settings.md lists all")
		}
	}
}

var (
	settingLike = regexp.MustCompile(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$`)
	// libraryVariable is what libraries and programs of the worker read, such as libc, Go, Azure's SDK and tesseract.
	libraryVariable = regexp.MustCompile(`^(PG|AZURE_|IDENTITY_|IMDS_|MSI_|SSL_CERT_|(HTTP|HTTPS|NO)_PROXY$|GO|LC_|LD_|MALLOC_|GLIBC_|XDG_|TESSDATA_|OMP_|OTEL_|SYSTEMD_|CREDENTIALS_DIRECTORY$)`)
)

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
