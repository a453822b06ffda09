package azure_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	storage "github.com/seed-7227ef26/async-worker/internal/azure"
	"github.com/seed-7227ef26/async-worker/internal/blob/azure"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
)

// hanging serves Azurite but for its first connection, which is taken and never read. It returns its address.
func hanging(t *testing.T, target string) string {
	t.Helper()
	// With small buffers the unread bytes of an upload stay with the sender.
	config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
		_ = c.Control(func(fd uintptr) { err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096) })
		return err
	}}
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for first := true; ; first = false {
			from, err := l.Accept()
			if err != nil {
				return
			}
			context.AfterFunc(t.Context(), func() { _ = from.Close() })
			if first {
				continue
			}
			to, err := net.Dial("tcp", target)
			if err != nil {
				_ = from.Close()
				continue
			}
			context.AfterFunc(t.Context(), func() { _ = to.Close() })
			for _, ends := range [][2]net.Conn{{from, to}, {to, from}} {
				go func() {
					_, _ = io.Copy(ends[0], ends[1])
					_ = ends[0].Close()
				}()
			}
		}
	}()
	return l.Addr().String()
}

// A service that takes a connection and nothing more, or never answers, holds up no request for ever.
func TestServiceThatHangs(t *testing.T) {
	t.Parallel()
	content := bytes.Repeat([]byte("0123456789abcdef"), 1<<18)
	for name, call := range map[string]func(ctx context.Context, b *azure.Bucket) error{
		"no answer": func(ctx context.Context, b *azure.Bucket) error {
			_, r, err := b.Open(ctx, "a.bin")
			if err == nil {
				_, err = io.Copy(io.Discard, r)
				_ = r.Close()
			}
			return err
		},
		"takes no data": func(ctx context.Context, b *azure.Bucket) error {
			_, err := b.Put(ctx, "b.bin", bytes.NewReader(content), "")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			there := stacktest.Azurite(t)
			container := stacktest.UniqueName("blobs")
			if err := fill(t.Context(), there, container, content); err != nil {
				t.Fatal(err)
			}
			host := ""
			for part := range strings.SplitSeq(there, ";") {
				if u, err := url.Parse(strings.TrimPrefix(part, "BlobEndpoint=")); err == nil && u.Host != "" && host == "" {
					host = u.Host
				}
			}
			creds, err := storage.FromConnectionString(strings.ReplaceAll(there, host, hanging(t, host)))
			if err != nil {
				t.Fatal(err)
			}
			b, err := azure.Open(creds, container, azure.Options{Stall: 5 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			if err := call(ctx, b); err != nil {
				t.Error(err)
			}
		})
	}
}

func fill(ctx context.Context, connectionString, container string, content []byte) error {
	creds, err := storage.FromConnectionString(connectionString)
	if err != nil {
		return err
	}
	b, err := azure.Open(creds, container, azure.Options{})
	if err != nil {
		return err
	}
	defer b.Close()
	if err := b.Ensure(ctx); err != nil {
		return err
	}
	_, err = b.Put(ctx, "a.bin", bytes.NewReader(content), "")
	return err
}
