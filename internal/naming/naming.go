// Package naming has the rules for names that others define, in one place for the settings and the code that uses them.
package naming

import "regexp"

// The lengths are not in the expressions, which would be a program of as many steps.
var (
	storageAccount = regexp.MustCompile(`^[a-z0-9]+$`)
	schema         = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)
)

// StorageAccount reports whether s can be the name of an Azure storage account
// (https://learn.microsoft.com/azure/storage/common/storage-account-overview).
func StorageAccount(s string) bool {
	return len(s) >= 3 && len(s) <= 24 && storageAccount.MatchString(s)
}

// Schema reports whether s can be the name of a Postgres schema without quotes: Postgres cuts names after 63 bytes.
func Schema(s string) bool { return len(s) <= 63 && schema.MatchString(s) }
