package source_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/source"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func within(l source.WebLimits) func(*source.WebConfig) {
	return func(c *source.WebConfig) { c.Limits = l }
}

// A server that holds a connection is given up, whichever way it does so.
func TestWebHolds(t *testing.T) {
	t.Parallel()
	const short, long = 50 * time.Millisecond, time.Hour
	for name, c := range map[string]struct {
		limits source.WebLimits
		answer http.HandlerFunc
		says   string
	}{
		"no answer": {
			source.WebLimits{Answer: short, Stall: long, Whole: long},
			func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "did not answer in time",
		},
		"redirects slowly": {
			source.WebLimits{Answer: 4 * short, Stall: long, Whole: long}, func(w http.ResponseWriter, r *http.Request) {
				select {
				case <-r.Context().Done():
				case <-time.After(short):
				}
				http.Redirect(w, r, "/again", http.StatusFound)
			}, "did not answer in time",
		},
		"a body that stops": {
			source.WebLimits{Answer: long, Stall: short, Whole: long}, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.WriteString(w, "half")
				w.(http.Flusher).Flush()
				<-r.Context().Done()
			}, "stopped sending",
		},
		"a body that drips": {
			source.WebLimits{Answer: long, Stall: 20 * short, Pace: 1 << 40, Whole: long}, drip(512), "too slowly",
		},
		"a compressed body that stops": {
			source.WebLimits{Answer: long, Stall: short, Whole: long}, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Encoding", "gzip")
				_, _ = io.WriteString(w, "\x1f\x8b")
				w.(http.Flusher).Flush()
				<-r.Context().Done()
			}, "stopped sending",
		},
		"a body that is slow for ever": {
			source.WebLimits{Answer: long, Stall: long, Pace: 1, Whole: 4 * short}, drip(1), "took too long",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, c.answer, within(c.limits))
			s.wantError("/a?key=s3cret", taskerr.NetworkTimeout, "", c.says)
		})
	}
}

// drip sends so many bytes at a time, for ever.
func drip(n int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, strings.Repeat("x", n)); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			select {
			case <-r.Context().Done():
			case <-time.After(time.Millisecond):
			}
		}
	}
}

// A body that does not end is read up to the limit.
func TestWebEndless(t *testing.T) {
	t.Parallel()
	s := newSite(t, drip(1<<15))
	s.wantError("/a", taskerr.QuotaExceeded, "", "MAX_BLOB_MB")
}

// A compressed body that does not end, and decompresses to nothing, is read up to the limit.
func TestWebEndlessNothing(t *testing.T) {
	t.Parallel()
	var empty bytes.Buffer
	if err := gzip.NewWriter(&empty).Close(); err != nil {
		t.Fatal(err)
	}
	nothing := bytes.Repeat(empty.Bytes(), 1000)
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		for r.Context().Err() == nil {
			if _, err := w.Write(nothing); err != nil {
				return
			}
		}
	}, within(source.WebLimits{Whole: 5 * time.Minute}))
	s.wantError("/a", taskerr.QuotaExceeded, "", "MAX_BLOB_MB")
}

// The end of a task ends its download, with the task's own reason.
func TestWebCanceled(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{})
	s := newSite(t, func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
	})
	reason := errors.New("the reason")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { <-asked; cancel(reason) }()
	_, err := s.fetcher.Fetch(ctx, s.place(s.url), source.Options{TempDir: s.temp, Bytes: most})
	if !errors.Is(err, reason) {
		t.Errorf("got %v", err)
	}
}

func TestWebRedirects(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("to"); to != "" {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
			return
		}
		if ref := r.Header.Get("Referer"); ref != "" {
			t.Errorf("the next server is told of %q", ref)
		}
		_, _ = io.WriteString(w, "text")
	})
	chain := func(hops int) string {
		to := "/files/report.md"
		for range hops {
			to = "/r?to=" + url.QueryEscape(to)
		}
		return to
	}
	if f, content, err := s.fetch(chain(5), source.Version{}); content != "text" || err != nil || f.Name != "report.md" {
		t.Errorf("five redirects: %q, %v", content, err)
	}
	_, port, err := net.SplitHostPort(strings.TrimPrefix(s.url, "https://"))
	if err != nil {
		t.Fatal(err)
	}
	before := s.calls.Load()
	for to, says := range map[string]string{
		"http://127.0.0.1:" + port + "/s3cret":       "not https",
		"https://me:s3cret@127.0.0.1:" + port + "/a": "user name",
		"file:///etc/passwd":                         "not https",
		"https://10.1.2.3/s3cret":                    "may not be called",
		"https://169.254.169.254/s3cret":             "may not be called",
		"https://[::1]:" + port + "/s3cret":          "may not be called",
		"https:///s3cret":                            "",
	} {
		s.wantError("/r?key=s3cret&to="+url.QueryEscape(to), taskerr.ValidationError, "SOURCE_REFUSED", says)
	}
	if n := s.calls.Load() - before; n != 7 {
		t.Errorf("%d requests for 7 redirects that are not followed", n)
	}
	s.wantError(chain(6), taskerr.ValidationError, "SOURCE_REFUSED", "more than 5 times")
	loop := newSite(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/again", http.StatusFound) })
	loop.wantError("/", taskerr.ValidationError, "SOURCE_REFUSED", "more than 5 times")
	if n := loop.calls.Load(); n != 6 {
		t.Errorf("%d requests in a loop", n)
	}
}

// own is a bucket that has an address.
type own struct{ blob.Bucket }

func (own) Locate(u *url.URL) (string, bool, error) {
	if u.Path == "/own" {
		return "in/a.txt", true, nil
	}
	if u.Path == "/other" {
		return "", false, taskerr.Errorf(taskerr.ValidationError, "another container")
	}
	return "", false, nil
}

// What is in the worker's own account is read with the worker's credentials or not at all, also after a redirect.
func TestWebOwnAccount(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/other", http.StatusFound) })
	s.fetcher.Bucket = own{}
	s.wantError("/r", taskerr.ValidationError, "SOURCE_REFUSED", "own storage account")
	if p, err := s.fetcher.Locate(s.place(s.url + "/own")); p.Blob != "in/a.txt" || p.Address != nil || err != nil {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := s.fetcher.Locate(s.place(s.url + "/other")); taskerr.Classify(err).Class != taskerr.ValidationError {
		t.Errorf("another container: %v", err)
	}
	if p, err := s.fetcher.Locate(s.place(s.url + "/else")); p.Address == nil || err != nil {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := s.fetcher.Locate(s.place("http://127.0.0.1:10000/a")); taskerr.Classify(err).Class != taskerr.ValidationError {
		t.Errorf("http: %v", err)
	}
}

// Without SOURCE_ALLOW_CIDRS no spelling of an internal address is called.
func TestWebRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(http.ResponseWriter, *http.Request) {}, func(c *source.WebConfig) { c.Allow = nil })
	_, port, err := net.SplitHostPort(strings.TrimPrefix(s.url, "https://"))
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "127.1.2.3"} {
		s.url = "https://" + host + ":" + port
		failure := s.wantError("/a?key=s3cret", taskerr.ValidationError, "SOURCE_REFUSED", "SOURCE_ALLOW_CIDRS")
		if strings.Contains(failure.Message, "loopback") {
			t.Errorf("the tenant reads what sort of address it is: %s", failure.Message)
		}
	}
	if n := s.calls.Load(); n != 0 {
		t.Errorf("the server was called %d times", n)
	}
}

// A name that leads to an allowed address first and to another one later is refused then.
func TestWebRebinding(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		if r.URL.Path == "/r" {
			http.Redirect(w, r, "/a", http.StatusFound)
		}
	}, func(c *source.WebConfig) {
		c.Allow = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
		c.Resolver = answering(t, [4]byte{127, 0, 0, 1}, [4]byte{127, 0, 0, 1}, [4]byte{127, 0, 0, 2})
	})
	_, port, err := net.SplitHostPort(strings.TrimPrefix(s.url, "https://"))
	if err != nil {
		t.Fatal(err)
	}
	s.url = "https://docs.example.test:" + port
	if _, _, err := s.fetch("/a", source.Version{}); err != nil {
		t.Fatal(err)
	}
	s.wantError("/r", taskerr.ValidationError, "SOURCE_REFUSED", "may not be called")
	if n := s.calls.Load(); n != 2 {
		t.Errorf("the server was called %d times", n)
	}
}

// answering returns a resolver whose server returns one address after the other and repeats the last one.
func answering(t *testing.T, addrs ...[4]byte) *net.Resolver {
	t.Helper()
	server, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		next, buffer := 0, make([]byte, 512)
		for {
			n, from, err := server.ReadFrom(buffer)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buffer[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			q := m.Questions[0]
			m.Response, m.Authoritative, m.Additionals = true, true, nil
			if q.Type == dnsmessage.TypeA {
				m.Answers = []dnsmessage.Resource{{
					Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class},
					Body:   &dnsmessage.AResource{A: addrs[min(next, len(addrs)-1)]},
				}}
				next++
			}
			if answer, err := m.Pack(); err == nil {
				_, _ = server.WriteTo(answer, from)
			}
		}
	}()
	t.Cleanup(func() { _ = server.Close(); <-done })
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
}
