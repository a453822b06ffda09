package source

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/httpurl"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// MaxURI is the longest source_uri, in bytes.
const MaxURI = 4096

// blobScheme is the scheme of a source_uri that names a blob of the tenant's container.
const blobScheme = "blob:"

// Place says where the bytes of a document are: in a blob of the tenant's container, or at an https address.
type Place struct {
	Blob    string   // empty: Address is set
	Address *url.URL // without a fragment; nil: Blob is set
}

// Parse reads a source_uri, without I/O. problem says what is wrong with it, without quoting it, as it may hold a
// password; empty: nothing.
func Parse(uri string) (p Place, problem string) {
	if name, ok := strings.CutPrefix(uri, blobScheme); ok {
		if err := blob.CheckName(name); err != nil {
			return p, "is refused: " + taskerr.Classify(err).Message
		}
		return Place{Blob: name}, ""
	}
	if len(uri) > MaxURI {
		return p, fmt.Sprintf("is longer than %d bytes", MaxURI)
	}
	u, err := url.Parse(uri)
	if err != nil || u.Opaque != "" {
		return p, "is not a URI; give blob:NAME or an https address"
	}
	if problem := addressProblem(u); problem != "" {
		return p, problem
	}
	u.Fragment, u.RawFragment = "", ""
	return Place{Address: u}, ""
}

// addressProblem says why an address is not fetched; empty: it may be. Plain http is left to Locate: the storage
// emulator's blobs have such addresses, on this machine.
func addressProblem(u *url.URL) string {
	switch {
	case u.Scheme != "https" && !(u.Scheme == "http" && httpurl.Loopback(u.Hostname())):
		return "has the scheme " + strconv.Quote(u.Scheme) + "; give blob:NAME or an https address"
	case u.User != nil:
		return "has a user name in it; give an address that needs no login, e.g. a signed one"
	case u.Hostname() == "":
		return "has no host"
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return "has a port outside 1 to 65535"
		}
	}
	return ""
}

// Key names the place in the store: the blob's name, or the address. Of a query, which may be a secret, it has a hash.
func (p Place) Key() string {
	if p.Address == nil {
		return p.Blob
	}
	u := *p.Address
	query := u.RawQuery
	u.Host, u.RawQuery, u.ForceQuery = strings.ToLower(u.Host), "", false
	key := u.String()
	if query != "" {
		key += "?" + hashed(query)
	}
	if len(key) > 1024 {
		key = key[:900] + "…" + hashed(key)
	}
	return strings.ToValidUTF8(key, "")
}

func hashed(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:12])
}

// Locate returns the place itself, or the blob if it is the address of one in the tenant's own container: that is read
// with the worker's credentials. The error is a validation_error.
func (f Fetcher) Locate(p Place) (Place, error) {
	if p.Address == nil {
		return p, nil
	}
	if b, ok := f.Bucket.(blob.Locator); ok {
		name, found, err := b.Locate(p.Address)
		if err != nil {
			return p, err
		}
		if found {
			return Place{Blob: name}, blob.CheckName(name)
		}
	}
	if p.Address.Scheme != "https" {
		return p, taskerr.Errorf(taskerr.ValidationError, "payload.source_uri is an http address, and not of a blob in the "+
			"tenant's container; give an https address")
	}
	return p, nil
}
