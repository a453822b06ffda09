// Package connstring parses connection strings of Azure Storage. An error says which part is wrong, and quotes no value.
package connstring

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/azure/sas"
	"github.com/seed-7227ef26/async-worker/internal/httpurl"
	"github.com/seed-7227ef26/async-worker/internal/naming"
)

// Storage is what a connection string says: a storage account, and a key or a signature for it.
type Storage struct {
	Account   string     // may be empty with a signature
	Queue     string     // the address of the queue service
	Blob      string     // the address of the blob service
	Key       string     // base64; empty: there is a signature
	Signature url.Values // a shared access signature; nil: there is a key
	Emulator  bool       // UseDevelopmentStorage=true
}

// The well-known account of the emulator, to which UseDevelopmentStorage=true expands.
// Source: https://learn.microsoft.com/azure/storage/common/storage-configure-connection-string
const (
	developmentAccount = "devstoreaccount1"
	developmentKey     = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)

// Parse parses an account with its key, a shared access signature, or UseDevelopmentStorage=true with an optional
// DevelopmentStorageProxyUri (which the SDK's parser doesn't support). It does not look at the end of a signature.
func Parse(s string) (Storage, error) {
	parts, err := split(s)
	if err != nil {
		return Storage{}, err
	}
	if strings.EqualFold(parts["usedevelopmentstorage"], "true") {
		return development(parts["developmentstorageproxyuri"])
	}
	c := Storage{Account: parts["accountname"]}
	if c.Queue, err = endpointOf("queue", parts); err != nil {
		return Storage{}, err
	}
	if c.Blob, err = endpointOf("blob", parts); err != nil {
		return Storage{}, err
	}
	switch {
	case parts["accountkey"] != "":
		if c.Account == "" {
			return Storage{}, errors.New("it has an AccountKey but no AccountName")
		}
		if _, err := base64.StdEncoding.DecodeString(parts["accountkey"]); err != nil {
			return Storage{}, errors.New(
				"its AccountKey is not base64; copy it again from the account's access keys, and quote the whole string")
		}
		c.Key = parts["accountkey"]
	case parts["sharedaccesssignature"] != "":
		if c.Signature, err = sas.Parse(parts["sharedaccesssignature"]); err != nil || c.Signature.Get("sig") == "" {
			return Storage{}, errors.New("its SharedAccessSignature has no readable signature (sig=…); copy it again")
		}
	default:
		return Storage{}, errors.New(
			"it has neither an AccountKey nor a SharedAccessSignature (is it cut at a semicolon? quote it)")
	}
	return c, nil
}

// split returns the parts by their lower-case names.
func split(s string) (map[string]string, error) {
	parts := map[string]string{}
	for i, part := range strings.Split(strings.Trim(s, "; \t\r\n\"'"), ";") {
		name, value, ok := strings.Cut(part, "=")
		if strings.TrimSpace(part) == "" {
			continue
		}
		if !ok || name == "" {
			return nil, fmt.Errorf("its part %d is not of the form Name=Value; parts are separated by semicolons", i+1)
		}
		parts[strings.ToLower(strings.TrimSpace(name))] = strings.TrimSpace(value)
	}
	if len(parts) == 0 {
		return nil, errors.New("it is empty")
	}
	return parts, nil
}

func endpointOf(service string, parts map[string]string) (string, error) {
	account, suffix := parts["accountname"], parts["endpointsuffix"]
	scheme := strings.ToLower(parts["defaultendpointsprotocol"])
	if scheme == "" {
		scheme = "https"
	}
	if suffix == "" {
		suffix = "core.windows.net"
	}
	endpoint := parts[service+"endpoint"]
	switch {
	case endpoint != "":
	case naming.StorageAccount(account):
		endpoint = fmt.Sprintf("%s://%s.%s.%s", scheme, account, service, suffix)
	case account != "":
		return "", errors.New("its AccountName is not a storage account's name (3-24 lower-case letters and digits)")
	default:
		return "", fmt.Errorf("it has neither an AccountName nor a %sEndpoint", strings.ToUpper(service[:1])+service[1:])
	}
	if _, err := httpurl.Parse(endpoint); err != nil {
		return "", fmt.Errorf("the address of its %s service is not an http or https URL", service)
	}
	return strings.TrimRight(endpoint, "/"), nil
}

func development(proxy string) (Storage, error) {
	base := "http://127.0.0.1"
	if proxy != "" {
		u, err := httpurl.Parse(proxy)
		if err != nil {
			return Storage{}, errors.New("its DevelopmentStorageProxyUri is not an http or https URL")
		}
		base = u.Scheme + "://" + u.Hostname()
	}
	return Storage{
		Account: developmentAccount, Key: developmentKey, Emulator: true,
		Queue: base + ":10001/" + developmentAccount, Blob: base + ":10000/" + developmentAccount,
	}, nil
}
