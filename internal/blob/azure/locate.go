package azure

import (
	"fmt"
	"net/url"
	"strings"

	"golang.org/x/net/idna"

	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

var _ blob.Locator = (*Bucket)(nil)

// Locate implements blob.Locator. Every way to write the account's host counts, also that of its other services and of
// its second region: none of them is called as if it were somebody else's.
func (b *Bucket) Locate(address *url.URL) (name string, found bool, err error) {
	own, err := url.Parse(b.client.URL()) // its query may be a signature
	if err != nil {
		return "", false, fmt.Errorf("read the container's own address: %w", err)
	}
	if host(own) != host(address) {
		return "", false, nil
	}
	// With an emulator the account is the first segment of the path.
	account, container := "", strings.Trim(own.Path, "/")
	if at := strings.LastIndex(container, "/"); at >= 0 {
		account, container = container[:at+1], container[at+1:]
	}
	path, ok := strings.CutPrefix(strings.TrimLeft(address.Path, "/"), account)
	if !ok && account != "" { // the emulator's port has other accounts
		return "", false, nil
	}
	folder, name, _ := strings.Cut(path, "/")
	switch query := address.Query(); {
	case folder != container || name == "":
		return "", false, taskerr.Errorf(taskerr.ValidationError, "payload.source_uri is in the worker's storage account, "+
			"but not a blob of the tenant's container %q; copy the document there", b.name)
	case query.Has("snapshot"), query.Has("versionid"):
		return "", false, taskerr.Errorf(taskerr.ValidationError, "payload.source_uri names an old version of a blob; the "+
			"worker reads the current one: leave out snapshot and versionid, or copy the version to a blob of its own")
	case address.Scheme != own.Scheme && address.Scheme != "https":
		return "", false, taskerr.Errorf(taskerr.ValidationError, "payload.source_uri is an http address; give https")
	}
	return name, true, nil
}

// host identifies the account: its host with the port, as that of its blob service in the first region.
func host(u *url.URL) string {
	name, err := idna.Lookup.ToASCII(u.Hostname()) // net/http calls this one: full width letters, "。" for a dot
	if err != nil {
		name = u.Hostname()
	}
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	account, domain, _ := strings.Cut(name, ".")
	if service, rest, _ := strings.Cut(domain, "."); service == "dfs" {
		domain = "blob." + rest
	}
	if strings.HasPrefix(domain, "blob.") {
		name = strings.TrimSuffix(account, "-secondary") + "." + domain
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80"}[u.Scheme]
	}
	if port == "443" {
		port = ""
	}
	return name + ":" + port
}
