package stack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// The account that every Azurite has; its key is public.
// Source: https://learn.microsoft.com/azure/storage/common/storage-use-azurite
const (
	azuriteAccount = "devstoreaccount1"
	azuriteKey     = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)

// errNoNodeModules: dev/node_modules is missing.
var errNoNodeModules = errors.New("the local stack is not installed: run `npm ci` in dev/ (`make test` does)")

// AzuriteOptions configure an Azurite. The zero value keeps everything in memory.
type AzuriteOptions struct {
	Folder string    // keeps its data; empty: memory only
	Log    io.Writer // gets its output; may be nil
	Root   string    // the project's folder; empty: found from the working directory
}

// Azurite is a running Azure Storage emulator: queues, blobs and (unused) tables.
type Azurite struct {
	*Process
	// ConnectionString names the account, its well-known key, and both endpoints.
	ConnectionString string

	command Command // to start it again
}

// StartAzurite starts Azurite on free loopback ports and waits until queues and blobs answer.
func StartAzurite(ctx context.Context, o AzuriteOptions) (*Azurite, error) {
	root := o.Root
	if root == "" {
		var err error
		if root, err = Root(); err != nil {
			return nil, err
		}
	}
	script := filepath.Join(root, "dev", "node_modules", "azurite", "dist", "src", "azurite.js")
	if _, err := os.Stat(script); err != nil {
		return nil, errNoNodeModules
	}
	var last error
	for range 3 { // another process may have taken a port between its choice and its use
		a, err := startAzurite(ctx, script, o)
		if err == nil || ctx.Err() != nil {
			return a, err
		}
		last = err
	}
	return nil, last
}

func startAzurite(ctx context.Context, script string, o AzuriteOptions) (*Azurite, error) {
	args := []string{script, "--silent", "--skipApiVersionCheck", "--disableTelemetry"}
	if o.Folder == "" {
		args = append(args, "--inMemoryPersistence")
	} else {
		args = append(args, "--location", o.Folder)
	}
	endpoints := map[string]string{}
	for _, service := range []string{"blob", "queue", "table"} {
		port, err := FreePort()
		if err != nil {
			return nil, fmt.Errorf("find a port for azurite: %w", err)
		}
		args = append(args, "--"+service+"Host", "127.0.0.1", "--"+service+"Port", strconv.Itoa(port))
		endpoints[service] = fmt.Sprintf("http://127.0.0.1:%d/%s", port, azuriteAccount)
	}
	command := Command{
		Name: "azurite", Path: "node", Args: args, Log: o.Log,
		Up: func(ctx context.Context) error {
			return errors.Join(answers(ctx, endpoints["blob"]), answers(ctx, endpoints["queue"]))
		},
	}
	process, err := Start(ctx, command)
	if err != nil {
		return nil, err
	}
	return &Azurite{Process: process, command: command, ConnectionString: fmt.Sprintf(
		"DefaultEndpointsProtocol=http;AccountName=%s;AccountKey=%s;BlobEndpoint=%s;QueueEndpoint=%s;",
		azuriteAccount, azuriteKey, endpoints["blob"], endpoints["queue"])}, nil
}

// Stop ends it.
func (a *Azurite) Stop() error { return a.Process.Stop(syscall.SIGTERM, 10*time.Second) }

// Restart stops it cleanly, which writes its data to its folder, and starts it again at the same address. It needs a
// Folder. No other goroutine may use it meanwhile.
func (a *Azurite) Restart(ctx context.Context) error {
	if err := a.Stop(); err != nil {
		return err
	}
	process, err := Start(ctx, a.command)
	if err != nil {
		return err
	}
	a.Process = process
	return nil
}

// answers sends an unsigned request. Azurite's own error code shows that it serves, which a listening socket doesn't.
func answers(ctx context.Context, endpoint string) error {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, endpoint+"?comp=list", http.NoBody)
	if err != nil {
		return err
	}
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.Header.Get("x-ms-error-code") == "" && resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s is not Azurite: it answered %s", endpoint, resp.Status)
	}
	return nil
}
