package config

import (
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/httpurl"
)

// metadataAddresses are services that give cloud machines their settings, some with credentials: AWS, Azure, Google
// and others; Azure's platform; AWS and Google by IPv6; Alibaba.
var metadataAddresses = []string{"169.254.169.254", "168.63.129.16", "fd00:ec2::254", "fd20:ce::254", "100.100.100.200"}

// checkAllowed warns of networks that expose more to the tenant's tasks than a private network.
func (l *loader) checkAllowed() {
	l.checkNetworks("WEBHOOK_ALLOW_CIDRS", "a webhook", "the receivers' networks", l.cfg.Webhook.AllowCIDRs)
	l.checkNetworks("SOURCE_ALLOW_CIDRS", "a source_uri", "the networks of the servers with documents",
		l.cfg.SourceAllowCIDRs)
}

func (l *loader) checkNetworks(name, who, instead string, allowed []netip.Prefix) {
	for _, network := range allowed {
		if network.Bits() == 0 {
			l.warn(name, network.String()+" is every address: "+who+
				" may call this machine, its network and the cloud's metadata service", "list only "+instead)
			continue
		}
		var within []string
		for _, address := range metadataAddresses {
			if network.Contains(netip.MustParseAddr(address)) {
				within = append(within, address)
			}
		}
		if len(within) > 0 {
			l.warn(name, network.String()+" includes "+strings.Join(within, ", ")+
				", the cloud's metadata service, which gives out credentials",
				"list smaller networks that leave them out")
		}
	}
}

// checkPlainModel warns of a model service that is called over the network without encryption.
func (l *loader) checkPlainModel(setting, address string, key bool) {
	if key && httpurl.Exposed(address) {
		l.warn(setting, "texts and the key travel unencrypted over http",
			"use https, unless the network between them is trusted")
	}
}

// checkOpenFiles warns of secrets that come from an environment file that everybody may read, as the package installs that
// of all tenants.
func (l *loader) checkOpenFiles() {
	for _, s := range Settings() {
		file, found := l.src.Files[s.Name], l.cfg.values[s.Name]
		if !s.Secret || file == "" || found.origin != file {
			continue
		}
		// the package closes the folder of a tenant's own file
		if allows(filepath.Dir(file), 0o001) && allows(file, 0o004) {
			l.warn(s.Name, "it is a secret, and every user of this machine can read "+file+", which has it",
				"move it to each tenant's credentials (async-worker tenant add TENANT --force --secret "+s.Name+"), or: chgrp async-worker "+
					file+" && chmod 0640 "+file)
		}
	}
}

func allows(path string, mode fs.FileMode) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().Perm()&mode != 0
}
