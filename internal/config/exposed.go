package config

import (
	"net/netip"
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
