package boot

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// asked is the variable that enables these tests; `make boot-test` sets it. Its value names the suites, separated
// by commas, or is "all".
const asked = "ASYNC_WORKER_BOOT"

// suites are the Debian releases that the package supports, the oldest first.
func suites() []string { return []string{"bookworm", "trixie"} }

// mirror is the Debian mirror.
func mirror() string {
	if m := os.Getenv("DEBIAN_MIRROR"); m != "" {
		return strings.TrimRight(m, "/")
	}
	return "http://deb.debian.org/debian"
}

// need skips the test if a container can't be booted, and says why.
func need(t *testing.T, suite string) {
	t.Helper()
	switch which := os.Getenv(asked); {
	case which == "":
		t.Skip("`make boot-test` runs it: it takes minutes, and root")
	case which != "all" && !strings.Contains(","+which+",", ","+suite+","):
		t.Skipf("%s=%s does not include it", asked, which)
	case os.Geteuid() != 0:
		t.Skip("only root can boot a container; run: sudo make boot-test")
	}
	for program, of := range map[string]string{
		"debootstrap": "debootstrap", "systemd-nspawn": "systemd-container", "nsenter": "util-linux",
		"unshare": "util-linux", "dpkg-deb": "dpkg",
	} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is missing; on Debian and Ubuntu: apt-get install %s", program, of)
		}
	}
	if cgroups() == "" {
		t.Skip("no cgroup2 file system is mounted, and systemd can't be PID 1 without one")
	}
	if known, err := os.ReadFile("/proc/filesystems"); err != nil || !bytes.Contains(known, []byte("\toverlay\n")) {
		t.Skip("the kernel has no overlayfs, by which a test gets its own copy of a Debian (modprobe overlay)")
	}
}

// needMirror skips the test if a Debian must be fetched and can't be.
func needMirror(t *testing.T, suite string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodHead, mirror()+"/dists/"+suite+"/InRelease", http.NoBody)
	if err != nil {
		t.Fatalf("DEBIAN_MIRROR: %v", err)
	}
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true}}
	answer, err := client.Do(r)
	if err != nil {
		t.Skipf("no Debian mirror: %v (DEBIAN_MIRROR names another)", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Skipf("no Debian mirror: %s returns %s (DEBIAN_MIRROR names another)", r.URL, answer.Status)
	}
}

// cgroups is where the cgroup2 file system is mounted; empty: nowhere.
func cgroups() string {
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(mounts)) {
		if f := strings.Fields(line); len(f) > 2 && f[2] == "cgroup2" {
			return f[1]
		}
	}
	return ""
}
