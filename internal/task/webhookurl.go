package task

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"regexp"
	"strconv"
)

// webhookMember is the member of a message with the URL: its name, and its value. The end of a value may be missing.
var webhookMember = regexp.MustCompile(`(?is)("webhook_url"\s*:\s*)("(?:[^"\\]|\\.)*"?)`)

// HideWebhook returns the text of a message with no more of its webhook_url than scheme and host: the rest may hold a
// token, and is for those alone who may operate. A message that came as base64 is decoded if it has a URL.
func HideWebhook(message string) string {
	if plain, err := base64.StdEncoding.DecodeString(message); err == nil && webhookMember.Match(plain) {
		message = string(plain)
	}
	return webhookMember.ReplaceAllStringFunc(message, func(member string) string {
		m := webhookMember.FindStringSubmatch(member)
		var text string
		if json.Unmarshal([]byte(m[2]), &text) != nil {
			return m[1] + `"…"`
		}
		u, err := url.Parse(text)
		if err != nil || u.Host == "" {
			return m[1] + `"…"`
		}
		origin := u.Scheme + "://" + u.Host
		if text == origin {
			return member
		}
		hidden, err := json.Marshal(origin + "/…")
		if err != nil {
			return m[1] + `"…"`
		}
		return m[1] + string(hidden)
	})
}

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
