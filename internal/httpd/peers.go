package httpd

import (
	"errors"
	"io"
	"net"
	"os"
	"os/user"
	"slices"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// maxRefusals is how many strangers are told at a time that they may not ask; others are cut off.
	maxRefusals = 8
	refusalTime = time.Second
	refusal     = "this socket answers root, the worker's own user, and operators\n"
)

// peers is a listener on a Unix socket that everybody may connect to. It hands on those alone who may ask; the rest is
// refused before it takes any of their room.
type peers struct {
	net.Listener

	may  func(net.Conn) bool
	busy chan struct{} // has an element for each refusal under way
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
			_ = c.Close() // the caller sees that it was refused
		}
	}
}

// refuse reads a request, so that its sender reads the answer, and answers 403.
func (p *peers) refuse(c net.Conn) {
	defer func() {
		_ = c.Close() // nobody waits for more
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

// groupID finds a group of this machine. Where there is none of that name it may not ask.
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

// mayAsk lets root ask, the worker's own user, and members of its group and of another one: as the kernel had them
// when they connected.
func mayAsk(group uint32) func(net.Conn) bool {
	own, ownGroup := uint32(os.Geteuid()), uint32(os.Getegid())
	return func(c net.Conn) bool {
		peer, groups, err := peerOf(c)
		if err != nil {
			return false
		}
		in := func(gid uint32) bool { return peer.Gid == gid || slices.Contains(groups, gid) }
		return peer.Uid == 0 || peer.Uid == own || in(ownGroup) || in(group)
	}
}

// peerOf asks the kernel who is at the other end of a Unix socket.
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

// peerGroups are the supplementary groups of the process at the other end (SO_PEERGROUPS, since Linux 4.13).
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
		case unix.ERANGE: // n is what it takes
			groups = make([]uint32, n/size)
		default:
			return nil, errno
		}
	}
}
