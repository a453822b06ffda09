package gatewaytest_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/gateway/gatewaytest"
	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// TestRestart: the address stays while the server is down, on the network and in memory.
func TestRestart(t *testing.T) {
	t.Parallel()
	for _, inMemory := range []bool{false, true} {
		s := gatewaytest.New(t, gatewaytest.Options{InMemory: inMemory})
		ask := func() int {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+"/health", nil)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := s.Client().Do(r)
			if err != nil {
				return 0
			}
			_, _ = io.Copy(io.Discard, answer.Body)
			_ = answer.Body.Close()
			return answer.StatusCode
		}
		if err := s.Stop(); err != nil || ask() != 0 {
			t.Errorf("in memory %v: it answers after its end, %v", inMemory, err)
		}
		if err := s.Start(); err != nil || ask() != http.StatusOK || s.Probes() != 1 {
			t.Errorf("in memory %v: it does not answer after a new start, %v", inMemory, err)
		}
	}
}

// TestForms: what is not the gateway's form is refused with its status.
func TestForms(t *testing.T) {
	t.Parallel()
	s := gatewaytest.New(t, gatewaytest.Options{})
	for body, want := range map[string]int{
		"--x--\r\n": http.StatusBadRequest,
		"no form":   http.StatusBadRequest,
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/process", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if body != "no form" {
			r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
		}
		answer, err := s.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%q: HTTP %d", body, answer.StatusCode)
		}
	}
}
