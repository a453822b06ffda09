package devstack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const oldestNode = 20

// checkNode returns the version of node.
func checkNode(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "node", "--version").Output()
	if errors.Is(err, exec.ErrNotFound) {
		return "", fmt.Errorf("node is not installed: the local stack needs Node.js %d or newer (apt install nodejs "+
			"npm, or https://nodejs.org)", oldestNode)
	}
	if err != nil {
		return "", fmt.Errorf("get node's version: %w", err)
	}
	version := strings.TrimSpace(string(out))
	major, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	if n, err := strconv.Atoi(major); err != nil || n < oldestNode {
		return "", fmt.Errorf("node is %s: the local stack needs Node.js %d or newer (https://nodejs.org)", version,
			oldestNode)
	}
	return version, nil
}

// checkPoppler checks for poppler's programs, which read the tour's PDF.
func checkPoppler() error {
	for _, name := range []string{"pdfinfo", "pdftotext", "pdftohtml"} {
		if _, err := exec.LookPath(name); err != nil {
			return fmt.Errorf("%s is not installed, and PDF documents can't be read without it: apt install "+
				"poppler-utils (make run does so as root)", name)
		}
	}
	return nil
}

// lockFile is the part of a package-lock.json that tells what is installed. npm writes one with what it has installed to
// node_modules/.package-lock.json. Source: https://docs.npmjs.com/cli/configuring-npm/package-lock-json
type lockFile struct {
	Packages map[string]lockedPackage `json:"packages"` // by folder; "" is the project
}

type lockedPackage struct {
	Version   string `json:"version"`
	Integrity string `json:"integrity"`
	Optional  bool   `json:"optional"` // npm leaves it out on another platform
}

func readLock(path string) (l lockFile, err error) {
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &l)
	}
	return l, err
}

// installed reports whether dev/node_modules has the packages of the lock file, in the same versions. Times of files
// say nothing: a checkout makes the lock file the newer one.
func installed(dev string) (bool, error) {
	lock, err := readLock(filepath.Join(dev, "package-lock.json"))
	if err != nil {
		return false, fmt.Errorf("read the lock file of dev/: %w", err)
	}
	made, err := readLock(filepath.Join(dev, "node_modules", ".package-lock.json"))
	if err != nil {
		return false, nil //nolint:nilerr // missing or incomplete: install again
	}
	for folder, want := range lock.Packages {
		got, there := made.Packages[folder]
		if folder != "" && (there || !want.Optional) && (got.Version != want.Version || got.Integrity != want.Integrity) {
			return false, nil
		}
	}
	return true, nil
}

// install runs npm ci in dev/ unless it is installed.
func (d *dev) install(ctx context.Context) error {
	node, err := checkNode(ctx)
	if err = errors.Join(err, checkPoppler()); err != nil {
		return err
	}
	dev := filepath.Join(d.home.root, "dev")
	if ok, err := installed(dev); ok || err != nil {
		if err == nil {
			d.out.done("node", node+", packages of dev/ installed")
		}
		return err
	}
	d.out.line("  … installing the packages of dev/ with npm ci")
	log, err := d.home.log("npm")
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "npm", "ci", "--no-audit", "--no-fund", "--loglevel=warn")
	cmd.Dir, cmd.Stdout, cmd.Stderr = dev, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("npm ci was stopped: %w", context.Cause(ctx))
		}
		return fmt.Errorf("npm ci in dev/ failed (%w): is the package registry reachable? its output is in %s", err,
			d.home.rel(d.home.logPath("npm")))
	}
	d.out.done("node", node+", packages of dev/ installed now")
	return nil
}
