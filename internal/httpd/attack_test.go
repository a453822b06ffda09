package httpd_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/httpd"
)

// attackers is how many connections each attack holds: more than the server's limit.
const attackers = 300

func isProbe(r *http.Request) bool { return r.URL.Path == "/livez" }

// dial connects to one of a server's listeners, until the test ends.
func dial(t *testing.T, to net.Addr) net.Conn {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), to.Network(), to.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() }) // the server may have closed it
	return c
}

func send(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := c.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
}

// answerTo sends a request on a new connection and returns the status.
func answerTo(t *testing.T, to net.Addr, path string) int {
	t.Helper()
	return responseTo(t, to, path).StatusCode
}

func responseTo(t *testing.T, to net.Addr, path string) *http.Response {
	t.Helper()
	c := dial(t, to)
	send(t, c, fmt.Sprintf("GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path))
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatalf("%s over %s: %v", path, to.Network(), err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// Connections that are held open, idle or in the middle of a header, do not keep a probe out.
func TestHeldConnectionsBlockNoOther(t *testing.T) {
	t.Parallel()
	for name, hold := range map[string]func(*testing.T, net.Addr){
		"idle behind a probe": func(t *testing.T, to net.Addr) {
			c := dial(t, to)
			send(t, c, "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
			resp, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatal(err)
			}
			if _ = resp.Body.Close(); !resp.Close {
				t.Error("the connection of a probe is kept")
			}
		},
		"idle behind a call": func(t *testing.T, to net.Addr) {
			c := dial(t, to)
			send(t, c, "GET /status HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+token+"\r\n\r\n")
			resp, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatal(err)
			}
			if _ = resp.Body.Close(); resp.Close {
				t.Error("the connection of a client with the token is not kept")
			}
		},
		"silent":      func(t *testing.T, to net.Addr) { dial(t, to) },
		"slow header": func(t *testing.T, to net.Addr) { send(t, dial(t, to), "GET /livez HTTP/1.1\r\nHost: loc") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := serve(t, httpd.Config{
				Socket: filepath.Join(t.TempDir(), "s"), Addr: "127.0.0.1:0", Token: token, Open: isProbe, Streams: 64,
			})
			for _, to := range s.Addrs() {
				for range attackers {
					hold(t, to)
				}
				if got := answerTo(t, to, "/livez"); got != http.StatusOK {
					t.Errorf("a probe over %s behind %d connections: %d", to.Network(), attackers, got)
				}
				t.Logf("%s: a probe was answered behind %d connections", to.Network(), attackers)
			}
		})
	}
}

// Slow requests leave room for probes, and a request above the limit is rejected at once.
func TestProbesHaveRoomOfTheirOwn(t *testing.T) {
	t.Parallel()
	const most = 96 // calls at a time
	begun := make(chan struct{}, attackers)
	over := make(chan struct{})
	s, _ := serve(t, httpd.Config{
		Socket: filepath.Join(t.TempDir(), "s"), Open: isProbe, Streams: 64,
		Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/slow" {
				begun <- struct{}{}
				<-over
			}
		}),
	})
	defer close(over)
	to := s.Addrs()[0]
	for range most {
		c := dial(t, to)
		send(t, c, "GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n")
		<-begun
	}
	if got := answerTo(t, to, "/slow"); got != http.StatusServiceUnavailable {
		t.Errorf("call %d: %d", most+1, got)
	}
	for _, path := range []string{"/v1/jobs", "/t/southhaven/v1/jobs"} {
		resp := responseTo(t, to, path)
		var p struct {
			Code   string `json:"code"`
			Detail string `json:"detail"`
			Status int    `json:"status"`
		}
		err := json.NewDecoder(resp.Body).Decode(&p)
		if err != nil || p.Code != "TOO_MANY_REQUESTS" || p.Status != resp.StatusCode || p.Detail == "" ||
			resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Content-Type") != "application/problem+json" ||
			resp.Header.Get("Retry-After") == "" {
			t.Errorf("%s above the limit: %v, %d %v %+v", path, err, resp.StatusCode, resp.Header, p)
		}
	}
	for range attackers { // each closes after its answer
		if got := answerTo(t, to, "/livez"); got != http.StatusOK {
			t.Fatalf("a probe beside %d calls: %d", most, got)
		}
	}
	for range attackers {
		send(t, dial(t, to), "GET /livez HTTP/1.1\r\n")
	}
	if got := answerTo(t, to, "/livez"); got != http.StatusOK {
		t.Errorf("a probe beside %d calls and %d slow headers: %d", most, attackers, got)
	}
}

// Who keeps requests waiting that anybody may make takes no place of others.
func TestStrangersHaveRoomOfTheirOwn(t *testing.T) {
	t.Parallel()
	const most = 32 // requests of strangers at a time
	begun := make(chan struct{}, attackers)
	s, _ := serve(t, httpd.Config{
		Addr: "127.0.0.1:0", Token: token, Own: func(*http.Request) bool { return true },
		Strangers: func(r *http.Request) bool { return r.URL.Path == "/login" },
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/login" {
				begun <- struct{}{}
				_ = r.ParseForm() // it waits
			}
		}),
	})
	to := s.Addrs()[0]
	half := func() net.Conn {
		c := dial(t, to)
		send(t, c, "POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n"+
			"Content-Length: 100\r\n\r\n")
		return c
	}
	for range most {
		half()
		<-begun
	}
	resp, err := http.ReadResponse(bufio.NewReader(half()), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _ = resp.Body.Close(); resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("stranger %d: %s", most+1, resp.Status)
	}
	for range attackers {
		half()
	}
	if got := answerTo(t, to, "/v1/jobs"); got != http.StatusOK {
		t.Errorf("a call beside %d strangers: %d", most, got)
	}
}
