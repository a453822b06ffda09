package boot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/stack"
)

// machine is a booted Debian. All its files are below dir, in a cgroup of its own, and mounted in a mount namespace
// that ends with it.
type machine struct {
	t       *testing.T // the step's
	name    string
	root    string // read only
	dir     string // what differs from root
	cgroup  string
	console *bytes.Buffer
	process *stack.Process
	leader  int // its PID 1, as the host counts
}

// start mounts a Debian, enters a cgroup, and boots. On a host with mixed cgroups the container must find cgroup2
// at the usual place. It is number 1 in a PID namespace, so that nothing outlives it, and dies with the test. Older
// versions of systemd-nspawn block the calls of Landlock, which a real machine has.
const start = `set -eu
echo $$ >"$CGROUP/cgroup.procs"
mount -t overlay overlay -o "lowerdir=$ROOT,upperdir=$DIR/upper,workdir=$DIR/work" "$DIR/root"
[ "$CGROUPS" = /sys/fs/cgroup ] || mount -t cgroup2 cgroup2 /sys/fs/cgroup
exec systemd-nspawn --quiet --directory="$DIR/root" --machine="$NAME" --register=no --keep-unit --console=pipe --boot \
	--system-call-filter="landlock_create_ruleset landlock_add_rule landlock_restrict_self"`

// prefix begins the names of machines; the process that started it and the suite follow.
const prefix = "async-worker-boot-"

// rebooted is the exit code by which systemd-nspawn requests a restart.
const rebooted = 133

// boot boots a Debian of the suite. It ends with the test, and the test fails if anything of it remains.
func boot(t *testing.T, suite string) *machine {
	t.Helper()
	m := &machine{t: t, name: fmt.Sprintf("%s%d-%s", prefix, os.Getpid(), suite), root: debian(t, suite)}
	m.dir, m.cgroup = filepath.Join(filepath.Dir(m.root), m.name), filepath.Join(cgroups(), m.name)
	sweep(t, filepath.Dir(m.dir))
	for _, dir := range []string{m.dir, filepath.Join(m.dir, "upper"), filepath.Join(m.dir,
		"work"), filepath.Join(m.dir, "root"), m.cgroup} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(m.gone)
	m.up()
	return m
}

// up boots the Debian in dir.
func (m *machine) up() {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), patience)
	defer cancel()
	m.leader, m.console = 0, &bytes.Buffer{}
	var err error
	m.process, err = stack.Start(ctx, stack.Command{
		Name: m.name, Path: "unshare", Args: []string{
			"--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", start,
		},
		Env: []string{
			"PATH=" + os.Getenv("PATH"), "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1",
			"ROOT=" + m.root, "DIR=" + m.dir, "NAME=" + m.name, "CGROUP=" + m.cgroup, "CGROUPS=" + cgroups(),
		},
		Log: m.console, Up: m.booted,
	})
	if err != nil {
		m.t.Fatalf("boot: %v", err)
	}
}

// booted returns an error until all of its units are up.
func (m *machine) booted(ctx context.Context) error {
	if m.leader == 0 {
		if m.leader = m.findLeader(); m.leader == 0 {
			return errors.New("systemd has not begun")
		}
	}
	out, err := m.command(ctx, "systemctl", "is-system-running").CombinedOutput()
	if state := strings.TrimSpace(string(out)); state != "running" && state != "degraded" {
		return fmt.Errorf("the system is %s (%w)", state, err)
	}
	return nil
}

// findLeader finds the machine's PID 1: the process of its cgroup that is number 1 in its own namespace.
func (m *machine) findLeader() int {
	found, first := 0, regexp.MustCompile(`^Name:\tsystemd\n(?s:.*)\nNSpid:.*\t1\n`)
	// what is missing appears soon
	_ = filepath.WalkDir(m.cgroup, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "cgroup.procs" {
			for pid := range strings.FieldsSeq(content(path)) {
				if first.MatchString(content("/proc/" + pid + "/status")) {
					found, _ = strconv.Atoi(pid)
				}
			}
		}
		return nil
	})
	return found
}

// content is a file's content; empty if it has gone.
func content(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(b)
}

// reboot restarts it as an operator does.
func (m *machine) reboot() {
	m.t.Helper()
	_, _ = m.try("systemctl", "reboot") // the answer may be cut off
	select {
	case <-m.process.Done():
	case <-time.After(patience):
		m.t.Fatalf("it does not go down\n%s", m.process.Tail())
	}
	if exit, ok := errors.AsType[*exec.ExitError](m.process.Err()); !ok || exit.ExitCode() != rebooted {
		m.t.Fatalf("the reboot ended with %v\n%s", m.process.Err(), m.process.Tail())
	}
	m.up()
}

// command runs within the machine.
func (m *machine) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "nsenter", append([]string{
		"--target", strconv.Itoa(m.leader), "--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", "--root", "--wd",
		"--", name,
	}, args...)...)
	cmd.Env = []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "TERM=dumb", "LANG=C.UTF-8",
		"SYSTEMD_PAGER=",
		"DEBIAN_FRONTEND=noninteractive",
	}
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// try runs a program in the machine and returns its output and how it ended.
func (m *machine) try(name string, args ...string) (string, error) {
	m.t.Helper()
	return m.tryWithin(2*time.Minute, name, args...)
}

// tryWithin is try for programs that take their time.
func (m *machine) tryWithin(limit time.Duration, name string, args ...string) (string, error) {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), limit)
	defer cancel()
	out, err := m.command(ctx, name, args...).CombinedOutput()
	if ctx.Err() != nil {
		err = fmt.Errorf("not done within %v: %w", limit, err)
	}
	return strings.TrimSpace(string(out)), err
}

// run is try for programs that must succeed.
func (m *machine) run(name string, args ...string) string {
	m.t.Helper()
	out, err := m.try(name, args...)
	if err != nil {
		m.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return out
}

// pipe is run with a text on standard input.
func (m *machine) pipe(text, name string, args ...string) {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), patience)
	defer cancel()
	cmd := m.command(ctx, name, args...)
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		m.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// write writes a file into the machine.
func (m *machine) write(path, text string, mode fs.FileMode) {
	m.t.Helper()
	m.pipe(text, "install", "-D", "-m", strconv.FormatUint(uint64(mode), 8), "/dev/stdin", path)
}

// copyIn copies a file of the host into the machine.
func (m *machine) copyIn(from, to string, mode fs.FileMode) {
	m.t.Helper()
	content, err := os.ReadFile(from)
	if err != nil {
		m.t.Fatal(err)
	}
	m.write(to, string(content), mode)
}

// gone ends the machine, and checks that nothing remains.
func (m *machine) gone() {
	if m.process != nil {
		if err := m.process.Stop(syscall.SIGTERM, 30*time.Second); err != nil {
			m.t.Error(err)
		}
	}
	if err := removeCgroup(m.cgroup); err != nil {
		m.t.Errorf("the machine's cgroup remains: %v", err)
	}
	// systemd-nspawn leaves the second if /run is on a disk.
	for _, dir := range []string{m.dir, "/run/systemd/nspawn/propagate/" + m.name} {
		if err := os.RemoveAll(dir); err != nil {
			m.t.Errorf("the machine's files remain: %v", err)
		}
	}
	if mounts, err := os.ReadFile("/proc/self/mountinfo"); err != nil || bytes.Contains(mounts, []byte(m.dir)) {
		m.t.Errorf("a mount of the machine remains below %s (%v)", m.dir, err)
	}
	if m.t.Failed() && m.console != nil {
		m.t.Logf("the machine's console:\n%s", tail(m.console.String(), 40))
	}
}

// sweep removes what killed tests have left: a cgroup and files.
func sweep(t *testing.T, kept string) {
	t.Helper()
	for _, parent := range []string{cgroups(), kept, "/run/systemd/nspawn/propagate"} {
		left, _ := filepath.Glob(filepath.Join(parent, prefix+"*")) // the pattern is well-formed
		for _, dir := range left {
			pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), prefix), "-")
			if _, err := os.Stat("/proc/" + pid); err == nil {
				continue
			}
			remove := os.RemoveAll
			if parent == cgroups() {
				remove = removeCgroup
			}
			if err := remove(dir); err != nil {
				t.Errorf("remove another test's remains: %v", err)
			}
		}
	}
}

// removeCgroup kills the processes left in a cgroup, and removes it.
func removeCgroup(dir string) error {
	// If it has gone already, or the kernel lacks it (before 5.14), the removal fails.
	_ = os.WriteFile(filepath.Join(dir, "cgroup.kill"), []byte("1"), 0)
	var dirs []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			dirs = append(dirs, path)
		}
		return err
	})
	if err != nil {
		return err
	}
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for i := len(dirs) - 1; i >= 0; {
		if err = os.Remove(dirs[i]); err == nil || errors.Is(err, fs.ErrNotExist) {
			i--
			continue
		}
		select { // killed processes end a moment later
		case <-tick.C:
		case <-deadline.C:
			return err
		}
	}
	return nil
}
