package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/child"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/doctor"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/soffice"
	"github.com/seed-7227ef26/async-worker/internal/ocr/tesseract"
	"github.com/seed-7227ef26/async-worker/internal/tenants"
)

func (d *opening) machine(cfg config.Config) {
	m := &d.worker.Machine
	m.TempDir, m.CacheDir = cmp.Or(cfg.CacheDir, os.TempDir()), d.o.CacheDir
	m.NeedBytes = int64(cfg.Concurrency) * cfg.MaxBlobBytes
	m.Programs = []string{"pdfinfo", "pdftotext", "pdftohtml", "pdftoppm", "pdfimages", "pdfdetach"}
	m.Run = func(ctx context.Context, program string) error {
		result, err := child.Run(ctx, child.Command{Program: program, Package: "poppler-utils", Args: []string{"-v"}})
		const shown = 99 // pdfdetach's exit code after it showed its version
		if err == nil && !result.OK() && (result.End != child.Exited || result.ExitCode != shown) {
			err = fmt.Errorf("failed to run (%s, exit code %d)", result.End, result.ExitCode)
		}
		return err
	}
	m.Office = soffice.Missing
	m.NeedMemory, m.Memory = cfg.ParserMemory+ownMemory, d.memory(cfg)
	c := child.Confine()
	m.Sandbox = doctor.Sandbox{Landlock: c.Landlock, Without: c.NoLandlock, NoSeccomp: c.NoSeccomp}
	if cfg.OCREngine == config.OCRTesseract {
		m.Tesseract = func(ctx context.Context) (string, []string, error) {
			e, err := tesseract.Open(ctx, tesseract.Options{})
			if err != nil {
				return "", nil, err
			}
			return e.Version(), e.Languages(), nil
		}
	}
}

// unit fills in where packaging and `tenant add` put a tenant's files.
func (d *opening) unit(cfg config.Config) {
	etc := cmp.Or(d.o.EtcDir, "/etc/async-worker")
	d.worker.Unit = doctor.Instance{
		Unit:        unitOf(cfg),
		EnvFile:     filepath.Join(etc, cfg.ClientID+".env"),
		Credentials: filepath.Join(etc, "credentials", cfg.ClientID),
	}
	d.worker.Unit.Shared = withSecrets(filepath.Join(filepath.Dir(etc), "default", "async-worker"))
	if group, err := user.LookupGroup(tenants.Operators); err == nil {
		d.worker.Unit.Operators = group.Gid
	}
	d.worker.Unit.Enabled = func(ctx context.Context) (string, error) {
		if !booted() {
			return "", nil
		}
		answer, err := systemctl(ctx, "is-enabled", d.worker.Unit.Unit)
		return cmp.Or(strings.TrimSpace(answer), "not known to systemd"), err
	}
}

// memory returns what tells the limit of the worker's memory: of a tenant's unit, or of this process's control group.
func (d *opening) memory(cfg config.Config) func(context.Context) (doctor.MemoryLimit, error) {
	return func(ctx context.Context) (doctor.MemoryLimit, error) {
		switch {
		case d.o.CacheDir == "":
			return groupLimit(selfGroup, groups), nil
		case !booted():
			return doctor.MemoryLimit{}, errors.New("this system was not started by systemd")
		}
		unit := unitOf(cfg)
		shown, err := systemctl(ctx, "show", "--property=MemoryHigh,MemoryMax", unit)
		return unitLimit(shown, unit), err
	}
}

func unitOf(cfg config.Config) string { return "async-worker@" + cfg.ClientID + ".service" }

// booted reports whether systemd runs the system, as sd_booted(3) does.
func booted() bool {
	_, err := os.Stat("/run/systemd/system")
	return err == nil
}

// systemctl returns what the command prints.
func systemctl(ctx context.Context, args ...string) (string, error) {
	var answer strings.Builder
	_, err := child.Run(ctx, child.Command{
		Program: "systemctl", Package: "systemd", Args: args,
		Trusted: true, // it needs the service manager's socket
		Stdout: func(r io.Reader) error {
			_, err := io.Copy(&answer, io.LimitReader(r, 1<<10))
			return err
		},
	})
	return answer.String(), err
}

// withSecrets returns an environment file's path if a secret is in it, else "". One that this user can't read is not open
// to others.
func withSecrets(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	values, err := tenants.ParseEnv(string(text))
	if err == nil && slices.ContainsFunc(config.Settings(), func(s config.Setting) bool { return s.Secret && values[s.Name] != "" }) {
		return file
	}
	return ""
}
