package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/tenants"
)

// unreadError is why a path of a tenant can't be read: for want of rights, or it is a wrong setting of the machine.
func unreadError(doing string, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return &failure{doing, nextOperator, &deniedError{err}}
	}
	e, ok := errors.AsType[*fs.PathError](err)
	if !ok {
		return fmt.Errorf("%s: %w", doing, err)
	}
	problem, remedy := pathProblem(err)
	return &config.Errors{Problems: []config.Problem{{Name: e.Path, Problem: problem, Remedy: remedy}}}
}

// pathProblem is why a path of a tenant can't be read, for another reason than rights.
func pathProblem(err error) (problem, remedy string) {
	switch {
	case errors.Is(err, syscall.EISDIR):
		return "it is a directory", "move it away: it has to be a file with settings"
	case errors.Is(err, syscall.ENOTDIR):
		return "a part of this path is a file", "move that file away: it has to be a folder, which async-worker tenant add makes"
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return "it can't be read: " + err.Error(), "check the disk and the links of this path"
}

// useTenantFiles makes the environment that of the tenant's unit, in the unit's order. It drops all settings of the
// shell, which may belong to another database.
func (p *program) useTenantFiles(cmd *cobra.Command, root, name string) error {
	etc := filepath.Join(root, tenantsDir)
	credentials := filepath.Join(etc, "credentials", name)
	var dropped []string // of libraries
	p.env = slices.DeleteFunc(config.Overlay(p.env, nil), func(line string) bool {
		name, _, _ := strings.Cut(line, "=")
		if isLibrarySetting(name) {
			dropped = append(dropped, name)
			return true
		}
		return name == "CREDENTIALS_DIRECTORY"
	})
	p.envFiles = map[string]string{}
	for _, path := range []string{filepath.Join(root, "etc/default/async-worker"), filepath.Join(etc, name+".env")} {
		if err := p.addEnvFile(path); err != nil {
			return err
		}
	}
	switch err := checkReadable(credentials); {
	case err == nil:
		p.env = append(p.env, "CREDENTIALS_DIRECTORY="+credentials)
	case !errors.Is(err, fs.ErrNotExist):
		return unreadError("read the credentials of tenant "+name, err)
	}
	p.setLibraries(dropped)
	p.tenant, p.root = name, root
	return setClient(cmd, name)
}

// checkReadable returns why a folder, or a file in it, can't be read.
func checkReadable(folder string) error {
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		f, openErr := os.Open(filepath.Join(folder, e.Name()))
		if openErr != nil {
			return openErr
		}
		_ = f.Close() // nothing was read
	}
	return err
}

// librarySettings are what libraries read from the environment of the process: the identity of Azure's SDK, and the
// proxies and certificate authorities of every request.
var librarySettings = []string{
	"AZURE_CLIENT_ID", "AZURE_TENANT_ID", "AZURE_CLIENT_SECRET", "AZURE_CLIENT_CERTIFICATE_PATH",
	"AZURE_CLIENT_CERTIFICATE_PASSWORD",
	"AZURE_FEDERATED_TOKEN_FILE", "AZURE_AUTHORITY_HOST", "AZURE_TOKEN_CREDENTIALS",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR",
}

// isLibrarySetting reports whether a library reads a variable. Those of Postgres (PGSSLMODE, PGOPTIONS, …) say what
// DATABASE_URL leaves out.
func isLibrarySetting(name string) bool {
	return strings.HasPrefix(name, "PG") || slices.Contains(librarySettings, name)
}

// setLibraries gives libraries the settings of the tenant's files instead of those dropped, as the tenant's worker has
// them. Go reads proxies and authorities once, with the first request, so it has to come before that.
func (p *program) setLibraries(dropped []string) {
	if p.setenv == nil {
		return
	}
	names := append(slices.Clone(librarySettings), dropped...)
	for name := range p.envFiles {
		if isLibrarySetting(name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		p.setenv(name, p.getenv(name))
	}
}

// addEnvFile adds the settings of an environment file.
func (p *program) addEnvFile(path string) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return unreadError("read the tenant's settings", err)
	}
	values, err := tenants.ParseEnv(string(text))
	if err != nil {
		return &config.Errors{Problems: []config.Problem{{Name: path, Problem: err.Error(), Remedy: "fix the line"}}}
	}
	for name, value := range values {
		p.env = append(p.env, name+"="+value)
		p.envFiles[name] = path
	}
	return nil
}
