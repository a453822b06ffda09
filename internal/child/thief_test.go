package child_test

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/seed-7227ef26/async-worker/internal/child"
)

// scene is a worker's surroundings: its secrets, other tasks' files, and listening services.
func scene(t *testing.T) (program, own string, v thief) {
	t.Helper()
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700),
			os.WriteFile(path, []byte(text), mode)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	program = file("bin/"+thiefProgram, string(self), 0o700)
	own = file("task-1/document.pdf", "%PDF", 0o600)
	v = thief{
		credentials: filepath.Dir(file("credentials/OPENAI_API_KEY", "sk-secret", 0o600)),
		envFile:     file("southhaven.env", "DATABASE_URL=secret", 0o600),
		otherBlob:   file("task-2/document.pdf", "%PDF of another", 0o600),
		outside:     filepath.Join(dir, "task-2"),
		unix:        filepath.Join(dir, "http.sock"), abstract: "@" + rand.Text(), // abstract names are of the whole machine
	}
	listen := func(network, address string) string {
		var config net.ListenConfig
		l, err := config.Listen(t.Context(), network, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		return l.Addr().String()
	}
	v.tcp = listen("tcp", "127.0.0.1:0")
	listen("unix", v.unix)
	listen("unix", v.abstract)
	return program, own, v
}

// rob runs the thief beside another child, both changed by change, and returns what it got and what it was denied.
func rob(t *testing.T, change func(*child.Command)) (got, refused []string) {
	t.Helper()
	program, own, v := scene(t)
	leaked, err := unix.Open(v.envFile, unix.O_RDONLY, 0) // as if the worker had inherited it
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(leaked) }()
	hold, release := io.Pipe()
	pid, ended := make(chan int, 1), make(chan error, 1)
	go func() {
		sibling := child.Command{
			Program: program, Args: []string{"wait"}, Dir: t.TempDir(), Stdin: hold,
			Stdout: func(r io.Reader) error {
				line, err := bufio.NewReader(r).ReadString('\n')
				n, _ := strconv.Atoi(strings.TrimSpace(line))
				pid <- n
				return err
			},
		}
		change(&sibling)
		_, err := child.Run(t.Context(), sibling)
		ended <- err
	}()
	v.sibling = <-pid
	var out string
	c := child.Command{
		Program: program, Args: append([]string{own}, v.args()...), Files: []string{own}, Dir: t.TempDir(),
	}
	change(&c)
	c.Stdout = func(r io.Reader) error {
		b, err := io.ReadAll(r)
		out = string(b)
		return err
	}
	result, err := child.Run(t.Context(), c)
	_ = release.Close()
	if err := errors.Join(err, <-ended); err != nil || !result.OK() {
		t.Fatal(result, err)
	}
	if !strings.Contains(out, "own file: <nil> <nil> ") {
		t.Fatalf("it can't do its own work:\n%s", out)
	}
	seen := map[string]string{}
	for line := range strings.Lines(out) {
		if f := strings.Split(strings.TrimSpace(line), "\t"); len(f) > 1 && seen[f[1]] != "got" {
			seen[f[1]] = f[0]
		}
	}
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		if seen[name] == "got" {
			got = append(got, name)
		} else {
			refused = append(refused, name)
		}
	}
	return got, refused
}

// TestThief: a parser that a document has taken over reaches only its file and its folder.
func TestThief(t *testing.T) {
	if child.Confine().Landlock == 0 {
		t.Skip("there is no Landlock here: ", child.Confine().NoLandlock)
	}
	for _, listens := range []bool{false, true} {
		got, refused := rob(t, func(c *child.Command) { c.Listens = listens })
		if len(got) > 0 {
			t.Errorf("listens %t: it got %q", listens, got)
		}
		if most := len(thief{}.attempts()); len(refused) != most {
			t.Errorf("listens %t: %d of %d thefts were denied", listens, len(refused), most)
		}
		t.Logf("%d thefts denied, %d not", len(refused), len(got))
	}
}

// TestThiefUnconfined: the thefts are real. Without a sandbox nearly all of them succeed.
func TestThiefUnconfined(t *testing.T) {
	got, refused := rob(t, func(c *child.Command) { c.Trusted = true })
	for _, name := range []string{
		"the worker's environment", "the worker's descriptors", "the credentials", "the environment file",
		"another task's blob",
		"a file outside", "another's file cut", "another's rights", "another's owner", "another's times",
		"what others do", "a signal by a pipe", "TCP on loopback", "a Unix socket", "an abstract socket",
		"a signal to the worker",
		"a signal to a sibling", "a sibling's environment", "the worker's limits", "a descriptor of the worker",
	} {
		if !slices.Contains(got, name) {
			t.Errorf("%s fails even without a sandbox: the attempt proves nothing", name)
		}
	}
	t.Logf("got %d, and not %q", len(got), refused)
}

// TestWorkerStaysFree: a child's confinement ends with the thread that started it.
func TestWorkerStaysFree(t *testing.T) {
	const children, threads = 20, 100
	for range children {
		c, _ := sh(t, "true")
		if r, err := child.Run(t.Context(), c); err != nil || !r.OK() {
			t.Fatal(r, err)
		}
	}
	var all sync.WaitGroup
	begin := make(chan struct{})
	for range threads {
		all.Go(func() {
			runtime.LockOSThread() // each goroutine needs its own thread
			defer runtime.UnlockOSThread()
			<-begin
			fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			if err == nil {
				err = unix.Close(fd)
			}
			_, other := os.ReadFile("/etc/passwd")
			if err := errors.Join(err, other); err != nil {
				t.Error("a thread of the worker is confined: ", err)
			}
		})
	}
	close(begin)
	all.Wait()
}

// TestProtect: other processes of the user can't inspect a protected one, which can still inspect itself.
func TestProtect(t *testing.T) {
	program, _, _ := scene(t)
	c, text := sh(t, "exec "+program+" protect me please")
	c.Trusted = true
	if r, err := child.Run(t.Context(), c); err != nil || !r.OK() || *text != "dumpable 0 <nil> <nil>\n" {
		t.Errorf("%q %+v %v", *text, r, err)
	}
}

// protected is TestProtect's process.
func protected() {
	err := child.Protect()
	dumpable, _ := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	_, maps := os.ReadFile("/proc/self/maps")
	fmt.Println("dumpable", dumpable, err, maps)
}

// BenchmarkRun measures the cost of one child; reading a document takes many short ones.
func BenchmarkRun(b *testing.B) {
	for name, trusted := range map[string]bool{"confined": false, "trusted": true} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if r, err := child.Run(b.Context(), child.Command{Program: "true", Trusted: trusted}); err != nil ||
					!r.OK() {
					b.Fatal(r, err)
				}
			}
		})
	}
}
