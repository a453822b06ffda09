package httpd

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/user"
	"slices"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// maxRefusals is how many unauthorized clients get a response at a time; the connections of others are closed.
	maxRefusals = 8
	refusalTime = time.Second
	refusal     = "this socket answers root, the worker's own user, and operators\n"
)

// peers is a listener on a Unix socket that everybody may connect to. It accepts authorized clients only; others are
// rejected before they take up connections.
type peers struct {
	net.Listener

	may  func(net.Conn) bool
	busy chan struct{} // has an element for each refusal in progress
}

func newPeers(l net.Listener, may func(net.Conn) bool) *peers {
	return &peers{l, may, make(chan struct{}, maxRefusals)}
}

// Accept implements net.Listener.
func (p *peers) Accept() (net.Conn, error) {
	for {
		c, err := p.Listener.Accept()
		if err != nil || p.may(c) {
			return c, err
		}
		select {
		case p.busy <- struct{}{}:
			go p.refuse(c) // it ends within refusalTime
		default:
			_ = c.Close() // the client sees the rejection
		}
	}
}

// refuse reads a request, so that the client reads the response, and responds with 403.
func (p *peers) refuse(c net.Conn) {
	defer func() {
		_ = c.Close() // the response has been sent
		<-p.busy
	}()
	if c.SetDeadline(time.Now().Add(refusalTime)) != nil {
		return
	}
	if _, err := c.Read(make([]byte, maxHeader)); err != nil {
		return
	}
	_, _ = io.WriteString(c, "HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Type: text/plain; "+
		"charset=utf-8\r\n"+
		"Content-Length: "+strconv.Itoa(len(refusal))+"\r\n\r\n"+refusal)
}

// groupID looks up a group of this machine. A group that doesn't exist authorizes nobody.
func groupID(name string) (gid uint32, known bool) {
	if name == "" {
		return 0, false
	}
	text := name
	if g, err := user.LookupGroup(name); err == nil {
		text = g.Gid
	}
	n, err := strconv.ParseUint(text, 10, 32)
	return uint32(n), err == nil && n > 0
}

// groupIDs looks up the groups that there are.
func groupIDs(names ...string) (gids []uint32) {
	for _, name := range names {
		if gid, known := groupID(name); known {
			gids = append(gids, gid)
		}
	}
	return gids
}

// mayAsk authorizes root, the worker's own user, members of its group and members of others. The kernel recorded
// them when the client connected.
func mayAsk(more ...uint32) func(net.Conn) bool {
	own, ownGroup := uint32(os.Geteuid()), uint32(os.Getegid())
	return func(c net.Conn) bool {
		peer, groups, err := peerOf(c)
		if err != nil {
			return false
		}
		in := func(gid uint32) bool { return peer.Gid == gid || slices.Contains(groups, gid) }
		return peer.Uid == 0 || peer.Uid == own || in(ownGroup) || slices.ContainsFunc(more, in)
	}
}

// peerOf returns the kernel's credentials of the process at the other end of a Unix socket.
func peerOf(c net.Conn) (peer *unix.Ucred, groups []uint32, err error) {
	socket, ok := c.(*net.UnixConn)
	if !ok {
		return nil, nil, errors.New("httpd: not a Unix socket")
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return nil, nil, err
	}
	controlErr := raw.Control(func(fd uintptr) {
		if peer, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			groups, err = peerGroups(fd)
		}
	})
	return peer, groups, errors.Join(err, controlErr)
}

// peerGroups returns the supplementary groups of the process at the other end (SO_PEERGROUPS, since Linux 4.13).
func peerGroups(fd uintptr) ([]uint32, error) {
	const size = uint32(unsafe.Sizeof(uint32(0)))
	groups := make([]uint32, 64)
	for {
		n := uint32(len(groups)) * size
		_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, fd, unix.SOL_SOCKET, unix.SO_PEERGROUPS,
			uintptr(unsafe.Pointer(&groups[0])), uintptr(unsafe.Pointer(&n)), 0) //nolint:gosec // written during the call
		switch errno {
		case 0:
			return groups[:n/size], nil
		case unix.ERANGE: // n is the size needed
			groups = make([]uint32, n/size)
		default:
			return nil, errno
		}
	}
}

// PeerUID returns the user at the other end of a request over the Unix socket, as the kernel recorded him when he
// connected. It returns false for a request over TCP, and for one that was forwarded.
func PeerUID(r *http.Request) (uid uint32, ok bool) {
	on, ok := r.Context().Value(connKey{}).(*conn)
	if !ok || !trusted(r) {
		return 0, false
	}
	peer, _, err := peerOf(on.Conn)
	if err != nil {
		return 0, false
	}
	return peer.Uid, true
}
