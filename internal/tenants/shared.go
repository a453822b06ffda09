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

// shared warns of values that another tenant of this machine has, too. A file that can't be read is that tenant's
// trouble.
func (m *Machine) shared(p plan) (warnings []config.Problem, err error) {
	names, err := m.Names()
	if err != nil {
		return nil, err
	}
	for _, s := range ofOneTenant {
		value, given := p.file.get(s.name)
		if !given || value == "" {
			continue
		}
		i := slices.IndexFunc(names, func(other string) bool {
			if other == p.name {
				return false
			}
			file, err := m.readEnv(envPath(other))
			if err != nil {
				return false
			}
			theirs, _ := file.get(s.name)
			return theirs == value && (s.name != "AZURE_STORAGE_CONTAINER" || !accountsDiffer(p.file, file))
		})
		if i >= 0 {
			warnings = append(warnings, config.Problem{
				Name: s.name, Problem: "the tenant " + names[i] + " has the same", Remedy: s.remedy,
			})
		}
	}
	return warnings, nil
}

// accountsDiffer reports whether two tenants name different storage accounts. Connection strings are secret, and not in
// these files.
func accountsDiffer(a, b *envFile) bool {
	mine, _ := a.get("AZURE_STORAGE_ACCOUNT")
	theirs, _ := b.get("AZURE_STORAGE_ACCOUNT")
	return mine != "" && theirs != "" && mine != theirs
}
