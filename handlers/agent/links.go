package agent

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

// Addresses of other machines: with a scheme; with the page's scheme ("//host/x", which browsers also accept with
// backslashes); and bare hosts, of which many viewers make links.
var (
	withScheme = pattern.New(`(?i)(\b(?:https?|ftp|wss?):)?[/\\]{2,}([^\s<>()"'` + "`" + `|/\\?#]+)`)
	bareHost   = pattern.New(`(?i)(?:[\p{L}\p{N}](?:[\p{L}\p{N}_-]*[\p{L}\p{N}])?\.)+(?:xn--[a-z0-9-]+|\p{L}{2,})`)
	wideDots   = strings.NewReplacer("。", ".", "．", ".", "｡", ".")
)

// fileEndings are top-level domains that are more often file extensions.
var fileEndings = []string{"md", "zip", "py", "sh", "rs", "ps", "pl", "mov", "cab", "cc", "so"}

// reserved are top-level domains of RFC 2606 and 6761: nobody owns them, but some networks resolve them.
var reservedDomains = []string{"example", "test", "invalid", "localhost", "local", "onion", "internal", "lan"}

// hostsIn lists the hosts that a text links to, in lower case, each once. named includes hosts of mail addresses and
// names that may be files: a user who wrote them expects them.
func hostsIn(text string, named bool) []string {
	text = wideDots.Replace(text)
	var hosts []string
	add := func(host string) {
		if host = strings.TrimRight(strings.ToLower(host), ".,;:!"); host != "" && !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	for _, m := range withScheme.FindAllStringSubmatch(text, -1) {
		if host := hostOf(m[2]); m[1] != "" || isHost(host, true) {
			add(host)
		}
	}
	text = withScheme.ReplaceAllString(text, " ")
	for _, at := range bareHost.FindAllStringIndex(text, -1) {
		host := text[at[0]:at[1]]
		mail := at[0] > 0 && text[at[0]-1] == '@'
		if named || !mail && isHost(host, strings.HasPrefix(text[at[1]:], "/")) {
			add(host)
		}
	}
	return hosts
}

// hostOf removes a user name and a port.
func hostOf(authority string) string {
	authority = authority[strings.LastIndexByte(authority, '@')+1:]
	if host, _, err := net.SplitHostPort(authority); err == nil {
		return host
	}
	return strings.Trim(authority, "[]")
}

// isHost distinguishes names of hosts from names of files: by the last label and a path after it.
func isHost(name string, path bool) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if len(last) == len(name) || !path && len(last) == 2 && last[0] < 'a' { // "It" after a full stop
		return false
	}
	name, last = strings.ToLower(name), strings.ToLower(last)
	if strings.HasPrefix(name, "www.") || slices.Contains(reservedDomains, last) {
		return true
	}
	if slices.Contains(fileEndings, last) && !path {
		return false
	}
	_, known := publicsuffix.PublicSuffix(last)
	return known
}

// foreignLinks warns of addresses in an answer that the user did not name. A document can make a model insert them; a
// viewer of the answer should load nothing from them.
func (r *run) foreignLinks(text string) []string {
	known := hostsIn(r.payload.Prompt, true)
	for _, m := range r.payload.History {
		known = append(known, hostsIn(m.Content, true)...)
	}
	hosts := slices.DeleteFunc(hostsIn(text, false), func(host string) bool { return slices.Contains(known, host) })
	if len(hosts) == 0 {
		return nil
	}
	return []string{
		fmt.Sprintf("the answer has addresses that the question does not name (%s): load nothing from them by itself",
			clip(strings.Join(hosts, ", "), 200)),
	}
}
