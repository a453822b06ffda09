package config

import (
	"net/url"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/httpurl"
	"github.com/seed-7227ef26/async-worker/internal/natsconn/natskey"
)

// natsSchemes are those of NATS's client.
var natsSchemes = []string{"nats", "tls", "ws", "wss"}

func natsScheme(address string) bool {
	scheme, _, _ := strings.Cut(strings.TrimSpace(address), "://")
	return slices.Contains(natsSchemes, scheme)
}

// eventsURL checks the form only: the client decides. Faults never quote the value, which may hold a password.
func eventsURL(c *Config, s string) *fault {
	const remedy = "set it to nats://HOST:4222 or tls://HOST:4222 (several separated by commas), or to an https address"
	if natsScheme(s) {
		for one := range strings.SplitSeq(s, ",") {
			u, err := url.Parse(strings.TrimSpace(one))
			switch {
			case err != nil:
				return &fault{"it is not a URL", remedy}
			case !slices.Contains(natsSchemes, u.Scheme):
				return &fault{"not all of its addresses are of NATS", remedy}
			case u.Hostname() == "":
				return &fault{"it names no host", remedy}
			}
		}
		c.Events.URL = NewSecret(s)
		return nil
	}
	u, err := httpurl.Parse(s)
	switch {
	case err != nil:
		return &fault{"it is neither an address of NATS nor of HTTP", remedy}
	case u.User != nil:
		return &fault{"it holds a user name or password", "put the key into EVENTS_KEY"}
	case u.Fragment != "":
		return &fault{"it has a fragment", remedy}
	}
	c.Events.URL = NewSecret(s)
	return nil
}

// checkEvents demands a key of a form that the service takes, and warns of what others could read on the way.
func (l *loader) checkEvents() {
	if !l.given("EVENTS_URL") {
		if l.given("EVENTS_KEY") {
			l.problem("EVENTS_URL", "there is an EVENTS_KEY but no address", "set it to where the events go, or unset "+
				"EVENTS_KEY")
		}
		return
	}
	if !l.fine("EVENTS_URL") {
		return
	}
	l.checkEventsKey()
	for one := range strings.SplitSeq(l.cfg.Events.URL.Reveal(), ",") {
		u, err := url.Parse(strings.TrimSpace(one))
		if err == nil && slices.Contains([]string{"http", "nats", "ws"}, u.Scheme) && !httpurl.Loopback(u.Hostname()) {
			l.warn("EVENTS_URL", "events travel unencrypted, and so does a key",
				"use https:// or tls://, unless the network is trusted")
			return
		}
	}
}

func (l *loader) checkEventsKey() {
	key := l.cfg.Events.Key.Reveal()
	form, err := natskey.Parse(key)
	switch {
	case !l.cfg.Events.NATS():
		if !headerValue(key) {
			l.problem("EVENTS_KEY", "it holds "+notInKeys, oneLine)
		}
	case err != nil:
		l.problem("EVENTS_KEY", "EVENTS_URL is of NATS, and it is neither the content of a .creds file, nor the whole seed "+
			"of an NKey, nor a token", "set EVENTS_KEY_FILE to the path of the .creds file, or copy the seed or token again")
	case form == natskey.Token && fileLike(key):
		l.problem("EVENTS_KEY", "it is the name of a file, not a key",
			"set EVENTS_KEY_FILE to the path of the .creds file, or put the file's content into the credential")
	}
}

// fileLike reports whether a token is the name of a file. A token in base64 may begin with a slash, and has capitals.
func fileLike(token string) bool {
	return strings.HasSuffix(token, ".creds") || strings.HasSuffix(token, ".nk") ||
		strings.HasPrefix(token, "/") && token == strings.ToLower(token)
}
