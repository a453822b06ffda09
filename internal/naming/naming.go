// Package naming has the rules for names that others define, in one place for the settings and the code that uses them.
package naming

import "regexp"

var (
	storageAccount = regexp.MustCompile(`^[a-z0-9]{3,24}$`)
	schema         = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)
)

// StorageAccount reports whether s can be the name of an Azure storage account
// (https://learn.microsoft.com/azure/storage/common/storage-account-overview).
func StorageAccount(s string) bool { return storageAccount.MatchString(s) }

// Schema reports whether s can be the name of a Postgres schema without quotes: Postgres cuts names after 63 bytes.
func Schema(s string) bool { return schema.MatchString(s) }
