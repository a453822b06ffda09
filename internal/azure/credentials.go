// Package azure holds what the queue and the blob back end share: credentials for a storage account, an HTTP transport
// sized to the worker, and errors that name the permission, clock or setting to fix and never hold a key or a
// signature.
package azure

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/seed-7227ef26/async-worker/internal/azure/connstring"
	"github.com/seed-7227ef26/async-worker/internal/azure/sas"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Service is one of a storage account's services.
type Service string

// The services that the worker uses.
const (
	Queue Service = "queue"
	Blob  Service = "blob"
)

// Credentials are the credentials for one storage account. Make them with FromConnectionString or FromIdentity. They
// are safe for concurrent use and print without their secret.
type Credentials struct {
	account   string // from the connection string or setting; may be empty with a SAS
	how       string // in messages: how the worker authenticates
	endpoints map[Service]string
	key       string                 // shared key, base64; or
	sas       url.Values             // a shared access signature; or
	token     azcore.TokenCredential // an identity
}

// String returns the account and the kind of credentials, without the secret. Like GoString it has a value receiver, so
// that a dereferenced value doesn't print the secret either.
func (c Credentials) String() string {
	if c.account == "" {
		return "storage account at " + c.Host(Queue) + ", " + c.how
	}
	return "storage account " + c.account + ", " + c.how
}

// GoString prevents %#v from printing the fields.
func (c Credentials) GoString() string { return c.String() }

// Account returns the name of the storage account; empty if a connection string with a shared access signature
// does not contain it.
func (c *Credentials) Account() string { return c.account }

// Host returns the host, with its port if it has one, of the service.
func (c *Credentials) Host(s Service) string {
	u, err := url.Parse(c.endpoints[s])
	if err != nil {
		return ""
	}
	return u.Host
}

// FromConnectionString parses a storage connection string, see connstring.Parse. An error describes the problem without
// quoting a value. That of a signature which has expired holds a *Problem.
func FromConnectionString(s string) (*Credentials, error) {
	const setting = "AZURE_STORAGE_CONNECTION_STRING"
	parsed, err := connstring.Parse(s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", setting, err)
	}
	c := &Credentials{
		account: parsed.Account, key: parsed.Key, sas: parsed.Signature, how: "authenticated by its key",
		endpoints: map[Service]string{Queue: parsed.Queue, Blob: parsed.Blob},
	}
	switch {
	case parsed.Emulator:
		c.how = "authenticated by the emulator's well-known key"
	case parsed.Signature != nil:
		c.how = "authenticated by a shared access signature"
		if end, ok := sas.End(c.sas); ok && time.Now().After(end) {
			return nil, expired(setting, end)
		}
	}
	return c, nil
}

// expired is the error of a signature that has expired. As the answer of Azure to one it is a matter of permission.
func expired(setting string, end time.Time) error {
	p := &Problem{
		Kind: Permission, Hint: "issue another (docs/azure.md), set it, and restart the worker",
		cause: errors.New(setting + ": its shared access signature expired at " + end.Format(time.RFC3339)),
	}
	return &taskerr.Error{
		Class: taskerr.DependencyUnavailable, Message: p.Error(), Cause: p, Dependency: taskerr.Storage, Hint: p.Hint,
	}
}
