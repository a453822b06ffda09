package tenants

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/config"
)

// Two tenants with one folder read each other's documents, and of two with one address one does not start.
func TestSharedWithAnotherTenant(t *testing.T) {
	t.Parallel()
	m, root := machine(t)
	const folder = "/srv/documents"
	with := func(name, addr string) Change {
		c := valid(name)
		delete(c.Settings, "AZURE_STORAGE_ACCOUNT")
		maps.Copy(c.Settings, map[string]string{
			"QUEUE_BACKEND": "postgres", "BLOB_BACKEND": "dir", "BLOB_DIR": folder, "HTTP_ADDR": addr,
		})
		return c
	}
	names := func(all []config.Problem) (names []string) {
		for _, w := range all {
			if strings.HasSuffix(w.Problem, " has the same") {
				names = append(names, w.Name)
			}
		}
		return names
	}
	if got := mustAdd(t, m, with("southhaven", "127.0.0.1:9090")).Warnings; len(names(got)) > 0 {
		t.Errorf("the first tenant: %v", got)
	}
	if got := names(mustAdd(t, m, with("southhaven", "127.0.0.1:9090")).Warnings); len(got) > 0 {
		t.Errorf("the same tenant again: %v", got)
	}
	if got := names(mustAdd(t, m, with("east-bay", "127.0.0.1:9090")).Warnings); !slices.Equal(got,
		[]string{"HTTP_ADDR", "BLOB_DIR"}) {
		t.Errorf("the second tenant: %v", got)
	}
	broken := filepath.Join(root, "etc/async-worker/broken.env")
	if err := os.WriteFile(broken, []byte("no setting\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := names(mustAdd(t, m, with("west-bay", "127.0.0.1:9091")).Warnings); !slices.Equal(got, []string{"BLOB_DIR"}) {
		t.Errorf("the third tenant: %v", got)
	}
}

// What is in the file of all tenants counts for each that has no value of its own.
func TestSharedByTheFileOfAllTenants(t *testing.T) {
	t.Parallel()
	m, root := machine(t)
	all := filepath.Join(root, sharedFile)
	err := errors.Join(os.MkdirAll(filepath.Dir(all), 0o755), os.WriteFile(all, []byte(
		"HTTP_ADDR=127.0.0.1:9090\nBLOB_DIR=/srv/documents\nAZURE_STORAGE_CONTAINER=documents\nAZURE_STORAGE_ACCOUNT=stsouth\n"), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	warned := func(name string, settings map[string]string) (names string) {
		c := valid(name)
		delete(c.Settings, "AZURE_STORAGE_ACCOUNT")
		maps.Copy(c.Settings, settings)
		for _, w := range mustAdd(t, m, c).Warnings {
			if strings.HasSuffix(w.Problem, " has the same") {
				names += w.Name + " "
				if strings.Contains(w.Remedy, "/etc/default/async-worker") != (settings[w.Name] == "") {
					t.Errorf("%s: %+v", name, w)
				}
			}
		}
		return names
	}
	if got := warned("southhaven", nil); got != "" {
		t.Errorf("the first tenant: %s", got)
	}
	if got := warned("east-bay", nil); got != "HTTP_ADDR BLOB_DIR AZURE_STORAGE_CONTAINER " {
		t.Errorf("the second tenant: %s", got)
	}
	if got := warned("west-bay", map[string]string{
		"HTTP_ADDR": "127.0.0.1:9091", "BLOB_DIR": "/srv/west-bay", "AZURE_STORAGE_ACCOUNT": "stwest",
	}); got != "" {
		t.Errorf("a tenant with values of its own: %s", got)
	}
	if got := warned("north-bay", map[string]string{
		"HTTP_ADDR": "127.0.0.1:9090", "BLOB_DIR": "/srv/north-bay", "AZURE_STORAGE_CONTAINER": "north",
	}); got != "HTTP_ADDR " {
		t.Errorf("a tenant with the value that others have from the shared file: %s", got)
	}
}

// Containers of one name in two storage accounts are two containers.
func TestContainersOfTwoAccounts(t *testing.T) {
	t.Parallel()
	m, _ := machine(t)
	of := func(name, account string) Change {
		c := valid(name)
		c.Settings["AZURE_STORAGE_ACCOUNT"], c.Settings["AZURE_STORAGE_CONTAINER"] = account, "documents"
		return c
	}
	warned := func(c Change) bool {
		return slices.ContainsFunc(mustAdd(t, m, c).Warnings, func(w config.Problem) bool { return w.Name == "AZURE_STORAGE_CONTAINER" })
	}
	if warned(of("southhaven", "first")) || warned(of("east-bay", "second")) {
		t.Error("a container of another account is shared")
	}
	if !warned(of("west-bay", "second")) {
		t.Error("a container of the same account is not shared")
	}
}
