package front

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// errElsewhere reports a redirect to what is not the tenant's.
var errElsewhere = errors.New("it redirects to an address outside of its path")

// locate makes the Location of a response one below the tenant's path, or reports a redirect to elsewhere: no policy
// confines what a browser sends on after a redirect. The client gets the path that was checked, and nothing that it could
// read in another way, as a relative path below one that has escapes.
func (t *tenant) locate(resp *http.Response) error {
	at, ok := resp.Header["Location"]
	if !ok {
		return nil
	}
	resp.Header.Del("Location")
	if to := t.own(handedOf(resp.Request), at[0]); to != "" {
		resp.Header.Set("Location", to)
	} else if resp.StatusCode/100 == 3 {
		return errElsewhere
	}
	return nil
}

// own resolves a worker's Location. Its absolute paths lack the tenant's prefix. Empty: it is not below that.
func (t *tenant) own(from handed, location string) string {
	if strings.HasPrefix(location, "/") && !strings.HasPrefix(location, "//") {
		location = prefix + t.name + location
	}
	base := &url.URL{Host: from.host, Path: prefix + t.name + from.rest.Path, RawPath: prefix + t.name + from.rest.RawPath}
	to, err := base.Parse(location)
	if err != nil || to.Host != base.Host || to.User != nil {
		return ""
	}
	if name, _, ok := split(to); !ok || name != t.name {
		return ""
	}
	to.Scheme, to.Host = "", ""
	return to.String()
}
