package httpurl_test

import (
	"errors"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/httpurl"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]error{
		"http://docling:5001": nil, "HTTPS://a.example/v1/": nil, "http://[::1]:9/": nil,
		"http://a:p%zz@h": httpurl.ErrSyntax, "http://h:port": httpurl.ErrSyntax, "docling:5001": httpurl.ErrScheme,
		"//h": httpurl.ErrScheme, "": httpurl.ErrScheme, "ftp://h": httpurl.ErrScheme, "https:///x": httpurl.ErrHost,
		"http://:80": httpurl.ErrHost, "https:h": httpurl.ErrHost,
	} {
		if u, err := httpurl.Parse(address); !errors.Is(err, want) || (err == nil) != (u != nil) {
			t.Errorf("%q: %v, %v; want %v", address, u, err, want)
		}
	}
}
