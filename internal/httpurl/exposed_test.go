package httpurl_test

import (
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/httpurl"
)

func TestExposed(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"http://docling:5001": true, "http://10.0.0.1/": true, "HTTP://h": true, "http://localhost.example": true,
		"https://h": false, "http://localhost:5001": false, "http://LOCALHOST": false, "http://127.9.9.9:1": false,
		"http://[::1]:9/": false, "http://[::ffff:127.0.0.1]": false, "": false, "http://a:p%zz@h": false,
	} {
		if got := httpurl.Exposed(address); got != want {
			t.Errorf("%q: %v, want %v", address, got, want)
		}
	}
}
