package tenants

import (
	"net"
	"net/netip"
	"path"
	"strconv"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/config"
)

// What to do about values that two tenants of a machine can't share.
const (
	ownPort      = "choose another port, or the second worker does not start"
	ownFolder    = "give each tenant a folder of its own, or they read and overwrite each other's documents"
	ownContainer = "if it is in the same storage account, give each tenant a container of its own, or they read and overwrite " +
		"each other's documents"
)

// tenantSources are the settings of a tenant, as far as they are in files of the machine.
type tenantSources struct {
	tenant string
	config.Sources
}

// shared warns of values that another tenant of this machine has, too, in its own file or in that of all tenants. A file
// that can't be read is that tenant's trouble.
func (m *Machine) shared(p plan) (warnings []config.Problem, err error) {
	names, err := m.Names()
	if err != nil {
		return nil, err
	}
	sources, err := m.sources(p.name, p.file, p.secrets)
	if err != nil {
		return nil, err
	}
	mine := tenantSources{p.name, sources}
	var others []tenantSources
	for _, name := range names {
		if file, err := m.readEnv(envPath(name)); err == nil && name != p.name {
			if theirs, err := m.sources(name, file, nil); err == nil {
				others = append(others, tenantSources{name, theirs})
			}
		}
	}
	for _, clash := range []func(mine, theirs tenantSources) config.Problem{sameAddress, sameFolder, sameContainer} {
		for _, theirs := range others {
			problem := clash(mine, theirs)
			if problem.Name == "" {
				continue
			}
			if _, origin, _ := mine.Find(problem.Name); origin == m.shown(sharedFile) {
				problem.Remedy = "take it out of " + origin + ": " + problem.Remedy
			}
			warnings = append(warnings, problem)
			break
		}
	}
	return warnings, nil
}

// valueOf returns a setting's text; empty: it is not set, or can't be read.
func (t tenantSources) valueOf(name string) string {
	value, _, _ := t.Find(name)
	return value.Reveal()
}

func sameAddress(mine, theirs tenantSources) config.Problem {
	a, b := mine.valueOf("HTTP_ADDR"), theirs.valueOf("HTTP_ADDR")
	switch {
	case a == "" || b == "" || !addressesOverlap(a, b):
		return config.Problem{}
	case a == b:
		return config.Problem{Name: "HTTP_ADDR", Problem: "the tenant " + theirs.tenant + " has the same", Remedy: ownPort}
	}
	return config.Problem{Name: "HTTP_ADDR", Problem: "the tenant " + theirs.tenant + " listens on the same port, on " + b, Remedy: ownPort}
}

// addressesOverlap reports whether two workers can't listen on both addresses. Port 0 is any that is free.
func addressesOverlap(a, b string) bool {
	hostA, portA, errA := net.SplitHostPort(a)
	hostB, portB, errB := net.SplitHostPort(b)
	if errA != nil || errB != nil {
		return false
	}
	first, errA := strconv.Atoi(portA)
	second, errB := strconv.Atoi(portB)
	if errA != nil || errB != nil || first != second || first == 0 {
		return false
	}
	hostA, hostB = listenHost(hostA), listenHost(hostB)
	return hostA == hostB || hostA == "" || hostB == ""
}

// listenHost returns a host in one form; empty: all addresses of the machine, of IPv4 and of IPv6, as net.Listen takes it.
func listenHost(host string) string {
	host = strings.ToLower(host)
	if host == "localhost" {
		return "127.0.0.1" // net.Listen prefers IPv4
	}
	addr, err := netip.ParseAddr(host)
	switch {
	case err != nil:
		return host
	case addr.Unmap().IsUnspecified():
		return ""
	}
	return addr.Unmap().String()
}

func sameFolder(mine, theirs tenantSources) config.Problem {
	a, b := oneFolder(mine.valueOf("BLOB_DIR")), oneFolder(theirs.valueOf("BLOB_DIR"))
	switch {
	case a == "" || b == "":
		return config.Problem{}
	case a == b:
		return config.Problem{Name: "BLOB_DIR", Problem: "the tenant " + theirs.tenant + " has the same", Remedy: ownFolder}
	case within(a, b):
		return config.Problem{Name: "BLOB_DIR", Problem: "it is in the folder of the tenant " + theirs.tenant, Remedy: ownFolder}
	case within(b, a):
		return config.Problem{Name: "BLOB_DIR", Problem: "the folder of the tenant " + theirs.tenant + " is in it", Remedy: ownFolder}
	}
	return config.Problem{}
}

// oneFolder returns a folder's path in one form; empty: it has none. Of state directories, /var/lib/async-worker/NAME is a
// link to the one in /var/lib/private.
func oneFolder(folder string) string {
	if !path.IsAbs(folder) {
		return ""
	}
	folder = path.Clean(folder)
	if inState, ok := strings.CutPrefix(folder, "/var/lib/private/async-worker/"); ok {
		return "/var/lib/async-worker/" + inState
	}
	return folder
}

func within(folder, parent string) bool {
	return strings.HasPrefix(folder, strings.TrimSuffix(parent, "/")+"/")
}

// sameContainer compares containers, also those by default, unless the storage accounts differ.
func sameContainer(mine, theirs tenantSources) config.Problem {
	const setting = "AZURE_STORAGE_CONTAINER"
	a, given := mine.container()
	b, others := theirs.container()
	switch {
	case a == "" || a != b || accountsDiffer(mine, theirs):
		return config.Problem{}
	case given && others:
		return config.Problem{Name: setting, Problem: "the tenant " + theirs.tenant + " has the same", Remedy: ownContainer}
	case given:
		return config.Problem{Name: setting, Problem: "the tenant " + theirs.tenant + " has the same by default", Remedy: ownContainer}
	}
	return config.Problem{
		Name: setting, Problem: "its default " + a + " is the container of the tenant " + theirs.tenant, Remedy: ownContainer,
	}
}

// container returns a tenant's container, and whether the settings name it; empty: its documents are in a folder.
func (t tenantSources) container() (name string, given bool) {
	if t.valueOf("BLOB_BACKEND") == config.BlobDir {
		return "", false
	}
	if name := t.valueOf("AZURE_STORAGE_CONTAINER"); name != "" {
		return name, true
	}
	return t.tenant + "-documents", false
}

// accountsDiffer reports whether two tenants name different storage accounts. Connection strings are secret, and not in
// these files.
func accountsDiffer(a, b tenantSources) bool {
	mine, theirs := a.valueOf("AZURE_STORAGE_ACCOUNT"), b.valueOf("AZURE_STORAGE_ACCOUNT")
	return mine != "" && theirs != "" && mine != theirs
}
