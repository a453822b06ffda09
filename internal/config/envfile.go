package config

import (
	"fmt"
	"strings"
)

// EnvFile returns an environment file with every setting and its default, commented out. Systemd's EnvironmentFile=
// and a shell can read it.
func EnvFile() string {
	var b strings.Builder
	b.WriteString(`# The settings of one tenant: copy them to /etc/async-worker/TENANT.env, and remove the # of those you change.
# A secret is better put into a file of its own, for root and operators: async-worker tenant add does both.
# CLIENT_ID is left out there: the name of the instance, async-worker@TENANT, decides.
`)
	for _, s := range Settings() {
		def := s.DefaultText()
		if s.Unit != "" {
			def += " " + s.Unit
		}
		fmt.Fprintf(&b, "\n# %s\n", s.Help)
		if s.Secret {
			fmt.Fprintf(&b, "# A secret; default: %s. Better: /etc/async-worker/credentials/TENANT/%s\n", def, s.Name)
		} else {
			fmt.Fprintf(&b, "# Default: %s\n", def)
		}
		fmt.Fprintf(&b, "#%s=%s\n", s.Name, s.Default)
	}
	return b.String()
}

// Manual returns async-worker.env(5), the manual page of the settings, in the Markdown that go-md2man reads.
func Manual() string {
	var b strings.Builder
	b.WriteString(`# NAME

async-worker.env - the settings of async-worker

# SYNOPSIS

*/etc/async-worker/TENANT.env*

*/etc/async-worker/credentials/TENANT/NAME*

*/etc/default/async-worker*

# DESCRIPTION

Each setting is an environment variable. The service manager reads them for the instance async-worker@TENANT from
*/etc/default/async-worker*, which all tenants share, and then from the tenant's own file, which wins. The syntax is that
of EnvironmentFile= in **systemd.exec**(5): lines of NAME=value, comments with #.

A setting may come from five places. The strongest first: a flag (**--worker-concurrency**), a credential (a file of the
setting's name in */etc/async-worker/credentials/TENANT*), the file that NAME_FILE names, the variable NAME, the default.
Secrets have no flag. **async-worker check-config** shows what is in force, and everything that is wrong with it.

CLIENT_ID is left out of a tenant's file: the name of the instance decides, and a file that says otherwise is refused.

# SETTINGS

`)
	for _, s := range Settings() {
		def := s.DefaultText()
		if s.Unit != "" {
			def += " " + s.Unit
		}
		secret := ""
		if s.Secret {
			secret = " A secret."
		}
		fmt.Fprintf(&b, "**%s**\n:   %s. Default: %s.%s\n\n", s.Name, markdownText(sentence(s.Help)), markdownText(def),
			secret)
	}
	b.WriteString(`# FILES

*/usr/share/doc/async-worker/examples/tenant.env*
:   all settings with their defaults, to copy from

# SEE ALSO

**async-worker**(1), **async-worker-tenant-add**(1), **async-worker-check-config**(1), **async-worker@.service**(8),
**systemd.exec**(5)
`)
	return b.String()
}

// sentence begins a help text with a capital letter, unless it begins with a name in lower case.
func sentence(help string) string {
	first, _, _ := strings.Cut(help, " ")
	if strings.ContainsAny(first, "_.,:") {
		return help
	}
	return strings.ToUpper(help[:1]) + help[1:]
}

// markdownText escapes plain text in Markdown.
func markdownText(s string) string {
	return strings.NewReplacer(`\`, `\\`, "_", `\_`, "*", `\*`, "<", `\<`, "[", `\[`, "`", "\\`").Replace(s)
}
