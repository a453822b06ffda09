package task

import (
	"net/url"
	"strconv"
)

// WebhookURLProblem returns why a webhook can't be sent to a URL, or "". It does not quote the URL, which may hold a
// token.
func WebhookURLProblem(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return "is not a URL"
	case u.Scheme == "":
		return "is not absolute"
	case u.Scheme != "http" && u.Scheme != "https":
		return "has the scheme " + quote(u.Scheme)
	case u.User != nil:
		return "has a user name in it"
	case u.Hostname() == "" || u.Opaque != "":
		return "has no host"
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return "has a port outside 1 to 65535"
		}
	}
	return ""
}
