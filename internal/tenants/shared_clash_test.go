package tenants

import (
	"maps"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/config"
)

// Two values that differ as texts may still be one folder, one port or one container; and two that look alike may not.
func TestClashes(t *testing.T) {
	t.Parallel()
	folder := func(path string) map[string]string {
		return map[string]string{"QUEUE_BACKEND": "postgres", "BLOB_BACKEND": "dir", "BLOB_DIR": path}
	}
	address := func(addr string) map[string]string {
		return map[string]string{"HTTP_ADDR": addr, "HTTP_TOKEN": strings.Repeat("t", 40)}
	}
	container := func(name, account string) map[string]string {
		settings := map[string]string{"AZURE_STORAGE_ACCOUNT": account}
		if name != "" {
			settings["AZURE_STORAGE_CONTAINER"] = name
		}
		return settings
	}
	for _, c := range []struct {
		first, second map[string]string // of the tenants "first" and "second"
		want          string            // empty: no warning
	}{
		{folder("/srv/"), folder("/srv"), "BLOB_DIR: the tenant first has the same"},
		{folder("/srv/a"), folder("/srv/b/../a"), "BLOB_DIR: the tenant first has the same"},
		{folder("/srv/a"), folder("/srv"), "BLOB_DIR: the folder of the tenant first is in it"},
		{folder("/srv"), folder("/srv/a"), "BLOB_DIR: it is in the folder of the tenant first"},
		{folder("/"), folder("/srv/a"), "BLOB_DIR: it is in the folder of the tenant first"},
		{folder("/var/lib"), folder("/var/lib/async-worker/second/a"), "BLOB_DIR: it is in the folder of the tenant first"},
		{folder("/srv/a"), folder("/srv/ab"), ""},
		{address("127.0.0.1:9101"), address(":9101"), "HTTP_ADDR: the tenant first listens on the same port, on 127.0.0.1:9101"},
		{address("0.0.0.0:9101"), address("127.0.0.1:9101"), "HTTP_ADDR: the tenant first listens on the same port, on 0.0.0.0:9101"},
		{address("[::]:9101"), address("192.0.2.1:9101"), "HTTP_ADDR: the tenant first listens on the same port, on [::]:9101"},
		{address("localhost:9101"), address("127.0.0.1:9101"), "HTTP_ADDR: the tenant first listens on the same port, on localhost:9101"},
		{
			address("[::ffff:127.0.0.1]:9101"), address("127.0.0.1:9101"),
			"HTTP_ADDR: the tenant first listens on the same port, on [::ffff:127.0.0.1]:9101",
		},
		{address("127.0.0.1:9101"), address("127.0.0.1:9101"), "HTTP_ADDR: the tenant first has the same"},
		{address("127.0.0.1:9101"), address("192.0.2.1:9101"), ""},
		{address("127.0.0.1:9101"), address("[::1]:9101"), ""},
		{address(":9101"), address(":9102"), ""},
		{address("127.0.0.1:0"), address("127.0.0.1:0"), ""},
		{container("", "one"), container("first-documents", "one"), "AZURE_STORAGE_CONTAINER: the tenant first has the same by default"},
		{
			container("second-documents", "one"), container("", "one"),
			"AZURE_STORAGE_CONTAINER: its default second-documents is the container of the tenant first",
		},
		{container("", "one"), container("first-documents", "two"), ""},
		{container("", "one"), container("", "one"), ""},
		{folder("/srv/a"), container("first-documents", "one"), ""},
	} {
		m, _ := machine(t)
		add := func(name string, settings map[string]string) (warned []string) {
			change := valid(name)
			if settings["BLOB_BACKEND"] != "" {
				delete(change.Settings, "AZURE_STORAGE_ACCOUNT")
			}
			maps.Copy(change.Settings, settings)
			if token, ok := change.Settings["HTTP_TOKEN"]; ok {
				delete(change.Settings, "HTTP_TOKEN")
				change.Secrets["HTTP_TOKEN"] = config.NewSecret(token)
			}
			for _, w := range mustAdd(t, m, change).Warnings {
				if strings.Contains(w.Problem, "the tenant first") {
					warned = append(warned, w.Name+": "+w.Problem)
				}
			}
			return warned
		}
		add("first", c.first)
		if got := strings.Join(add("second", c.second), "; "); got != c.want {
			t.Errorf("%v and %v:\n got %s\nwant %s", c.first, c.second, got, c.want)
		}
	}
	if a := oneFolder("/var/lib/private/async-worker/x/y"); a != oneFolder("/var/lib/async-worker/x/y/") {
		t.Errorf("the state directory by its other name: %s", a)
	}
}
