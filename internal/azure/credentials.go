// Package azure holds what the queue and the blob back end share: credentials for a storage account, an HTTP transport
// sized to the worker, and errors that name the permission, clock or setting to fix and never hold a key or a
// signature.
package azure

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/seed-7227ef26/async-worker/internal/azure/sas"
	"github.com/seed-7227ef26/async-worker/internal/httpurl"
	"github.com/seed-7227ef26/async-worker/internal/naming"
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

// The well-known account of the emulator, to which UseDevelopmentStorage=true expands.
// Source: https://learn.microsoft.com/azure/storage/common/storage-configure-connection-string
const (
	developmentAccount = "devstoreaccount1"
	developmentKey     = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)

// FromConnectionString parses a storage connection string: an account with its key, a shared access signature, or
// UseDevelopmentStorage=true with an optional DevelopmentStorageProxyUri (which the SDK's parser doesn't support). An
// error describes the problem without quoting a value.
func FromConnectionString(s string) (*Credentials, error) {
	parts, err := splitConnectionString(s)
	if err != nil {
		return nil, err
	}
	if strings.EqualFold(parts["usedevelopmentstorage"], "true") {
		return developmentStorage(parts["developmentstorageproxyuri"])
	}
	c := &Credentials{account: parts["accountname"]}
	if c.endpoints, err = endpointsOf(parts); err != nil {
		return nil, err
	}
	switch {
	case parts["accountkey"] != "":
		if c.account == "" {
			return nil, badConnectionString("it has an AccountKey but no AccountName")
		}
		if !isBase64(parts["accountkey"]) {
			return nil, badConnectionString(
				"its AccountKey is not base64; copy it again from the account's access keys, and quote the whole string")
		}
		c.key, c.how = parts["accountkey"], "authenticated by its key"
	case parts["sharedaccesssignature"] != "":
		if c.sas, err = sas.Parse(parts["sharedaccesssignature"]); err != nil ||
			c.sas.Get("sig") == "" {
			return nil, badConnectionString(
				"its SharedAccessSignature has no readable signature (sig=…); copy it again")
		}
		if end, ok := sas.End(c.sas); ok && time.Now().After(end) {
			return nil, badConnectionString("its shared access signature expired at " + end.Format(time.RFC3339) +
				"; issue a new one")
		}
		c.how = "authenticated by a shared access signature"
	default:
		return nil, badConnectionString(
			"it has neither an AccountKey nor a SharedAccessSignature (is it cut at a semicolon? quote it)")
	}
	return c, nil
}

func badConnectionString(what string) error {
	return fmt.Errorf("AZURE_STORAGE_CONNECTION_STRING: %s", what)
}

// splitConnectionString returns the parts by their lower-case names.
func splitConnectionString(s string) (map[string]string, error) {
	parts := map[string]string{}
	for i, part := range strings.Split(strings.Trim(s, "; \t\r\n\"'"), ";") {
		name, value, ok := strings.Cut(part, "=")
		if strings.TrimSpace(part) == "" {
			continue
		}
		if !ok || name == "" {
			return nil, badConnectionString(
				fmt.Sprintf("its part %d is not of the form Name=Value; parts are separated by semicolons", i+1))
		}
		parts[strings.ToLower(strings.TrimSpace(name))] = strings.TrimSpace(value)
	}
	if len(parts) == 0 {
		return nil, badConnectionString("it is empty")
	}
	return parts, nil
}

func endpointsOf(parts map[string]string) (map[Service]string, error) {
	account, suffix := parts["accountname"], parts["endpointsuffix"]
	scheme := strings.ToLower(parts["defaultendpointsprotocol"])
	if scheme == "" {
		scheme = "https"
	}
	if suffix == "" {
		suffix = "core.windows.net"
	}
	endpoints := map[Service]string{}
	for _, s := range []Service{Queue, Blob} {
		endpoint := parts[string(s)+"endpoint"]
		switch {
		case endpoint != "":
		case naming.StorageAccount(account):
			endpoint = fmt.Sprintf("%s://%s.%s.%s", scheme, account, s, suffix)
		case account != "":
			return nil, badConnectionString(
				"its AccountName is not a storage account's name (3-24 lower-case letters and digits)")
		default:
			return nil, badConnectionString(fmt.Sprintf("it has neither an AccountName nor a %sEndpoint",
				strings.ToUpper(string(s[:1]))+string(s[1:])))
		}
		if _, err := httpurl.Parse(endpoint); err != nil {
			return nil, badConnectionString(fmt.Sprintf("the address of its %s service is not an http or https URL", s))
		}
		endpoints[s] = strings.TrimRight(endpoint, "/")
	}
	return endpoints, nil
}

func developmentStorage(proxy string) (*Credentials, error) {
	base := "http://127.0.0.1"
	if proxy != "" {
		u, err := httpurl.Parse(proxy)
		if err != nil {
			return nil, badConnectionString("its DevelopmentStorageProxyUri is not an http or https URL")
		}
		base = u.Scheme + "://" + u.Hostname()
	}
	return &Credentials{
		account: developmentAccount, key: developmentKey, how: "authenticated by the emulator's well-known key",
		endpoints: map[Service]string{
			Queue: base + ":10001/" + developmentAccount,
			Blob:  base + ":10000/" + developmentAccount,
		},
	}, nil
}
