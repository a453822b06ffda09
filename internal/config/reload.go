package config

import (
	"maps"
	"slices"
	"strings"
)

// Changes names the settings that changed since they were last read.
type Changes struct {
	Live    []string `json:"applied"` // those that a running worker can apply
	Restart []string `json:"restart"` // those that need a restart
}

// Reload reads the settings again; old is in force. It returns the new values of live settings, and the old values of
// the others. The error is an *Errors with everything that is wrong, either with the new settings as a restart would
// find them or with what it would return; the caller must then change nothing.
func Reload(src Sources, groups Group, old Config) (Config, Changes, error) {
	fresh, err := Load(src, groups)
	if err != nil {
		return fresh, Changes{}, err
	}
	var changes Changes
	for _, s := range Settings() {
		switch {
		case fresh.values[s.Name].text == old.values[s.Name].text:
		case s.Live:
			changes.Live = append(changes.Live, s.Name)
		default:
			changes.Restart = append(changes.Restart, s.Name)
		}
	}
	src.keep = old.values
	next, err := Load(src, groups)
	return next, changes, err
}

// Environ returns the variables of an environment that are settings, with and without _FILE. The folder of credentials
// is left out: systemd passes it to the daemon only, not to ExecReload.
func Environ(environ []string) []string {
	names := variables()
	return slices.DeleteFunc(slices.Clone(environ), func(line string) bool {
		name, _, _ := strings.Cut(line, "=")
		return !names[name]
	})
}

// Overlay returns base with the settings of another environment instead of its own. What is misspelled in base may be
// correct in the other.
func Overlay(base, settings []string) []string {
	names := variables()
	for _, p := range Misspelled(base) {
		names[p.Name] = true
	}
	rest := slices.DeleteFunc(slices.Clone(base), func(line string) bool {
		name, _, _ := strings.Cut(line, "=")
		return names[name]
	})
	return append(rest, Environ(settings)...)
}

func variables() map[string]bool {
	names := map[string]bool{}
	for _, s := range Settings() {
		maps.Copy(names, map[string]bool{s.Name: true, s.Name + "_FILE": true})
	}
	return names
}
