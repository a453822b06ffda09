package config_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/config"
)

// What would fail when the database or the storage account is opened is a wrong setting already: the problem names the
// part, and quotes no secret.
func TestUnusableAddresses(t *testing.T) {
	t.Parallel()
	const url, storage = "DATABASE_URL=postgres://u:TopSecret@h/d", "AZURE_STORAGE_CONNECTION_STRING="
	const endpoints = "QueueEndpoint=https://q.example;BlobEndpoint=https://b.example;"
	for setting, want := range map[string]string{
		url + "?sslmode=verify-full&sslrootcert=/nowhere/ca.crt":                     "the file /nowhere/ca.crt of its sslrootcert does not exist",
		url + "?sslmode=TopSecret":                                                   "its sslmode is not one",
		url + "?pool_max_conns=TopSecret":                                            "its parameter pool_max_conns",
		url + "?default_query_exec_mode=TopSecret":                                   "its parameter default_query_exec_mode",
		"DATABASE_URL=host=h password=Top TopSecret":                                 "not a Postgres connection string",
		storage + "AccountName=Acme;AccountKey=VG9wU2VjcmV0":                         "lower-case letters and digits",
		storage + "AccountName=acme;AccountKey=VG9wU2VjcmV0;QueueEndpoint=q.example": "its queue service is not an http",
		storage + endpoints + "SharedAccessSignature=sv=2024&TopSecret":              "no readable signature",
	} {
		_, problems := load(t, minimal(setting), nil, nil)
		name, _, _ := strings.Cut(setting, "=")
		if len(problems) != 1 || problems[0].Name != name || !strings.Contains(problems[0].Problem, want) {
			t.Errorf("%s: %v, want %q", setting, problems, want)
			continue
		}
		if p := problems[0]; p.Remedy == "" || strings.Contains(p.String(), "TopSecret") || strings.Contains(p.String(), "VG9w") {
			t.Errorf("%s: %s", setting, p)
		}
	}
}

// The remedy of a signature is a signature: who copies the account's key instead gives the worker all tenants' data.
func TestSignatureIsNotReplacedByTheKey(t *testing.T) {
	t.Parallel()
	for _, connection := range []string{
		"AccountName=acme;SharedAccessSignature=sv=2024&sig=c2ln",
		"BlobEndpoint=https://b.example;SharedAccessSignature=sv=2024&sig=c2ln",
		"BlobEndpoint=https://b.example;QueueEndpoint=https://q.example;SharedAccessSignature=sv=2024",
		"blobendpoint=https://b.example;queueendpoint=https://q.example;sharedaccesssignature=sv=2024&sig=c2ln",
		"BlobEndpoint=https://b.example;QueueEndpoint;SharedAccessSignature=sv=2024&sig=c2ln",
	} {
		_, problems := load(t, minimal("AZURE_STORAGE_CONNECTION_STRING="+connection), nil, nil)
		if len(problems) != 1 || !strings.Contains(problems[0].Remedy, "QueueEndpoint=https://…;SharedAccessSignature=sv=") ||
			!strings.Contains(problems[0].Remedy, "docs/azure.md") {
			t.Errorf("%s: %v", connection, problems)
			continue
		}
		if text := problems[0].String(); strings.Contains(text, "Access keys") || strings.Contains(text, "AccountKey") {
			t.Errorf("%s: it asks for the account's key: %s", connection, text)
		}
	}
}

// A connection string is stronger than the name of an account.
func TestAccountWithoutEffect(t *testing.T) {
	t.Parallel()
	const signature = "BlobEndpoint=https://b.example;QueueEndpoint=https://q.example;SharedAccessSignature=sv=2024&sig=c2ln"
	for setting, want := range map[string]bool{
		"AZURE_STORAGE_ACCOUNT=devstoreaccount1": true, "AZURE_STORAGE_ACCOUNT=": false,
		"AZURE_STORAGE_ACCOUNT=acme|AZURE_STORAGE_CONNECTION_STRING=" + signature: true,
		"AZURE_STORAGE_ACCOUNT=acme|AZURE_STORAGE_CONNECTION_STRING=":             false,
	} {
		c, problems := load(t, minimal(strings.Split(setting, "|")...), nil, nil)
		warned := slices.ContainsFunc(c.Warnings(), func(p config.Problem) bool {
			return p.Name == "AZURE_STORAGE_ACCOUNT" && strings.Contains(p.Problem, "it has no effect: AZURE_STORAGE_CONNECTION_STRING is set")
		})
		if problems != nil || warned != want {
			t.Errorf("%s: %v; %v", setting, problems, c.Warnings())
		}
	}
}
