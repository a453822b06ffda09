package tenants

import (
	"slices"

	"github.com/seed-7227ef26/async-worker/internal/config"
)

// ofOneTenant are settings that two tenants of a machine can't share, and what to do about it.
var ofOneTenant = []struct{ name, remedy string }{
	{"HTTP_ADDR", "choose another port, or the second worker does not start"},
	{"BLOB_DIR", "give each tenant a folder of its own, or they read and overwrite each other's documents"},
	{"AZURE_STORAGE_CONTAINER", "if it is in the same storage account, give each tenant a container of its own, or they read and " +
		"overwrite each other's documents"},
}

// shared warns of values that another tenant of this machine has, too, in its own file or in that of all tenants. A file
// that can't be read is that tenant's trouble.
func (m *Machine) shared(p plan) (warnings []config.Problem, err error) {
	names, err := m.Names()
	if err != nil {
		return nil, err
	}
	mine, err := m.sources(p.name, p.file, p.secrets)
	if err != nil {
		return nil, err
	}
	others := map[string]config.Sources{}
	for _, name := range names {
		if file, err := m.readEnv(envPath(name)); err == nil && name != p.name {
			others[name], _ = m.sources(name, file, nil) // as mine: only the shared file is read
		}
	}
	for _, s := range ofOneTenant {
		value, origin, _ := mine.Find(s.name) // it has been checked
		i := slices.IndexFunc(names, func(name string) bool {
			theirs, ok := others[name]
			return ok && valueOf(theirs, s.name) == value.Reveal() &&
				(s.name != "AZURE_STORAGE_CONTAINER" || !accountsDiffer(mine, theirs))
		})
		if i < 0 || !value.IsSet() {
			continue
		}
		shared := config.Problem{Name: s.name, Problem: "the tenant " + names[i] + " has the same", Remedy: s.remedy}
		if origin == m.shown(sharedFile) {
			shared.Remedy = "take it out of " + origin + ": " + s.remedy
		}
		warnings = append(warnings, shared)
	}
	return warnings, nil
}

// valueOf returns a setting's text; empty: it is not set, or can't be read.
func valueOf(src config.Sources, name string) string {
	value, _, _ := src.Find(name)
	return value.Reveal()
}

// accountsDiffer reports whether two tenants name different storage accounts. Connection strings are secret, and not in
// these files.
func accountsDiffer(a, b config.Sources) bool {
	mine, theirs := valueOf(a, "AZURE_STORAGE_ACCOUNT"), valueOf(b, "AZURE_STORAGE_ACCOUNT")
	return mine != "" && theirs != "" && mine != theirs
}
