package boot

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/stack"
)

// release are the files that the tests install: a package, the next version of it, and a program that can be made
// to hang.
type release struct{ first, next, hanging string }

// prebuilt names a folder with an earlier build, for changes of the tests and not the program.
const prebuilt = "ASYNC_WORKER_BOOT_PACKAGES"

// packages builds them in dir, unless they exist.
func packages(t *testing.T, dir string) release {
	t.Helper()
	if made := os.Getenv(prebuilt); made != "" {
		return releaseIn(made)
	}
	made := releaseIn(dir)
	if _, err := os.Stat(made.hanging); err == nil {
		return made
	}
	if err := build(dir); err != nil {
		t.Fatal(err)
	}
	return made
}

func releaseIn(dir string) release {
	return release{filepath.Join(dir, "1.deb"), filepath.Join(dir, "2.deb"), filepath.Join(dir, "async-worker-hang")}
}

// build makes the packages of two versions, and the program with the build tag hang (see internal/engine/hang.go).
func build(dir string) error {
	root, err := stack.Root()
	if err != nil {
		return err
	}
	arch, err := exec.Command("dpkg", "--print-architecture").Output()
	if err != nil {
		return fmt.Errorf("ask dpkg for the architecture: %w", err)
	}
	for i := 1; i <= 2; i++ {
		out := filepath.Join(dir, strconv.Itoa(i))
		if err := command(root, "packaging/build", "--arch", strings.TrimSpace(string(arch)), "--version",
			"1.0.0-boot"+strconv.Itoa(i), "--out", out); err != nil {
			return err
		}
		made, _ := filepath.Glob(filepath.Join(out, "*.deb")) // the pattern is well-formed
		if len(made) != 1 {
			return fmt.Errorf("packaging/build made %d packages, not one", len(made))
		}
		if err := os.Rename(made[0], out+".deb"); err != nil {
			return err
		}
	}
	return command(root, "env", "CGO_ENABLED=0", "go", "build", "-tags", "hang", "-trimpath", "-o",
		filepath.Join(dir, "async-worker-hang"), "./cmd/async-worker")
}

func command(dir, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, tail(string(out), 20))
	}
	return nil
}

// install installs the package as an operator does.
func install(b *bed, made release) {
	b.m.copyIn(made.first, "/root/async-worker_1.deb", 0o644)
	b.m.copyIn(made.next, "/root/async-worker_2.deb", 0o644)
	b.m.copyIn(made.hanging, "/usr/local/bin/hanging-worker", 0o755)
	begun := time.Now()
	// It downloads and unpacks all of LibreOffice's libraries: how long that takes is the mirror's and the disk's affair.
	if out, err := b.m.tryWithin(15*time.Minute, "apt-get", "install", "--yes", "/root/async-worker_1.deb"); err != nil {
		b.Fatalf("apt-get install: %v\n%s", err, tail(out, 40))
	}
	b.figure("installed in %v; %s", time.Since(begun).Round(time.Millisecond),
		tail(b.m.run("systemctl", "--version"), 99)[:11])
	if out, err := b.m.try("systemd-analyze", "verify", "--man=no", "/usr/lib/systemd/system/async-worker@.service",
		"/usr/lib/systemd/system/async-worker.target", "/usr/lib/systemd/system/"+proxy); err != nil || out != "" {
		b.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
	if got := b.m.run("systemctl", "is-enabled", "async-worker.target"); got != "enabled" {
		b.Errorf("the target is %s after the installation", got)
	}
}
