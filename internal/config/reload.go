package config

import (
	"maps"
	"slices"
	"strings"
)

// Changes names the settings that another look at the sources has changed.
type Changes struct {
	Live    []string `json:"applied"` // those that can be taken over by a worker that runs
	Restart []string `json:"restart"` // those that take a restart
}

// Reload reads the settings again, of which old is in force. What it returns has the new values of the settings
// that are live, and the old ones of the others. The error is an *Errors with everything that is wrong, with the new
// settings as a restart would find them or as they would be in force now; nothing should be changed then.
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

// Environ returns what of an environment says something about settings: the variables of the table, with and
// without _FILE. Where the credentials are is not of it: systemd tells that to the daemon alone, not to ExecReload.
func Environ(environ []string) []string {
	names := variables()
	return slices.DeleteFunc(slices.Clone(environ), func(line string) bool {
		name, _, _ := strings.Cut(line, "=")
		return !names[name]
	})
}

// Overlay is base with the settings of another environment instead of its own.
func Overlay(base, settings []string) []string {
	names := variables()
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
