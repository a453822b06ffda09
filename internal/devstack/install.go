package devstack

import (
	"context"
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

// installed reports whether dev/node_modules is newer than the lock file.
func installed(dev string) (bool, error) {
	lock, err := os.Stat(filepath.Join(dev, "package-lock.json"))
	if err != nil {
		return false, fmt.Errorf("look at the lock file of dev/: %w", err)
	}
	made, err := os.Stat(filepath.Join(dev, "node_modules", ".package-lock.json"))
	if err != nil {
		return false, nil //nolint:nilerr // missing or incomplete: install again
	}
	return !made.ModTime().Before(lock.ModTime()), nil
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
