package httpd_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/httpd"
)

// askedFor in the environment turns the test's program into a client of a socket.
const askedFor = "ASYNC_WORKER_TEST_ASK"

// TestAskAs is not a test: the tests below run it as another user, as a client.
func TestAskAs(t *testing.T) {
	socket := os.Getenv(askedFor)
	if socket == "" {
		t.Skip("TestPeers runs it as other users")
	}
	var got map[string]string
	err := httpd.Client{Socket: socket}.Get(t.Context(), "/status", &got)
	if refused, ok := errors.AsType[*httpd.StatusError](err); ok {
		os.Exit(refused.Code - 400)
	}
	if err != nil || got["path"] != "/status" {
		t.Errorf("%v, %v", got, err)
	}
}

// TestPeers: a socket with a group serves root, the worker's own user, members of its own group and members of that
// group; everybody else is rejected, by the kernel's credentials.
func TestPeers(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("needs root, to run as other users")
	}
	const group, other, user, front = 4711, 4712, 4713, 4714
	dir := filepath.Join("/tmp", "async-worker-peers-"+rand.Text()[:10]) // other users can't enter a test's folder
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	self, err := os.Executable()
	program, readErr := os.ReadFile(self)
	if err = errors.Join(err, readErr, os.Chmod(dir, 0o755),
		os.WriteFile(filepath.Join(dir, "client"), program, 0o755)); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "http.sock")
	serve(t, httpd.Config{Socket: socket, Group: strconv.Itoa(group), Front: strconv.Itoa(front)})
	if info, err := os.Stat(socket); err != nil || info.Mode() != fs.ModeSocket|0o666 {
		t.Errorf("the socket: %v, %v", info.Mode(), err)
	}
	for name, c := range map[string]struct {
		as   syscall.Credential
		want int
	}{
		"root":                                   {syscall.Credential{}, 0},
		"a member":                               {syscall.Credential{Uid: user, Gid: user, Groups: []uint32{other, group}}, 0},
		"a member of many":                       {syscall.Credential{Uid: user, Gid: user, Groups: append(many(), group)}, 0},
		"whose first group it is":                {syscall.Credential{Uid: user, Gid: group}, 0},
		"the front, whose requests need a token": {syscall.Credential{Uid: front, Gid: front}, 1},
		"another user":                           {syscall.Credential{Uid: user, Gid: user}, 3},
		"of another group":                       {syscall.Credential{Uid: user, Gid: other, Groups: many()}, 3},
		"as the member's uid":                    {syscall.Credential{Uid: group, Gid: user}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			code := 0
			for range 3 { // a refused client that does not ask within a second gets no answer
				cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "client"), "-test.run=^TestAskAs$")
				cmd.Env = []string{askedFor + "=" + socket}
				cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{Credential: &c.as}
				cmd.Stdout, cmd.Stderr = &out, &out
				code = 0
				if exit, ok := errors.AsType[*exec.ExitError](cmd.Run()); ok {
					code = exit.ExitCode()
				}
				if code != 1 || c.want == 1 {
					break
				}
			}
			if code != c.want {
				t.Errorf("it ended with %d, want %d\n%s", code, c.want, &out)
			}
		})
	}
}

// many returns more groups than the first call of getsockopt has room for.
func many() (groups []uint32) {
	for i := range uint32(200) {
		groups = append(groups, 10000+i)
	}
	return groups
}

// TestStrangersBlockNoOther: an unauthorized user who holds as many connections as possible blocks nobody.
func TestStrangersBlockNoOther(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("needs root, to run as other users")
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(t.TempDir(), "s.sock"))
	if err != nil {
		t.Fatal(err)
	}
	nobody := func(net.Conn) bool { return false }
	guarded := httpd.NewPeers(l, nobody)
	ended := make(chan error, 1)
	go func() { _, err := guarded.Accept(); ended <- err }()
	var held []net.Conn
	for range 50 {
		held = append(held, dial(t, l.Addr()))
	}
	closed := 0
	for _, c := range held {
		if err := c.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := http.ReadResponse(bufio.NewReader(c), nil); err == nil || !errors.Is(err, os.ErrDeadlineExceeded) {
			closed++
		}
	}
	if closed != len(held) {
		t.Errorf("%d of %d unauthorized connections are closed", closed, len(held))
	}
	_ = l.Close()
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("the listener ended with %v", err)
	}
}

// TestUnknownGroup: if this machine lacks the group, the mode of the socket admits its user and group only.
func TestUnknownGroup(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "http.sock")
	serve(t, httpd.Config{Socket: socket, Group: "no-such-group"})
	if info, err := os.Stat(socket); err != nil || info.Mode() != fs.ModeSocket|0o660 {
		t.Errorf("the socket: %v, %v", info.Mode(), err)
	}
	var got map[string]string
	if err := (httpd.Client{Socket: socket}).Get(context.Background(), "/", &got); err != nil ||
		!strings.HasPrefix(got["path"], "/") {
		t.Errorf("%v, %v", got, err)
	}
}
