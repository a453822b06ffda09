package azure_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	storage "github.com/seed-7227ef26/async-worker/internal/azure"
	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/blob/azure"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// A signed address writes its one blob, once: it neither overwrites nor reads nor removes it, nor writes another.
func TestSignUpload(t *testing.T) {
	t.Parallel()
	b := open(t, azure.Options{})
	if err := b.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	const name = "uploads/17/Bericht für 100%.txt"
	u, err := b.SignUpload(t.Context(), name, "text/plain", time.Minute)
	if err != nil || u.Method != http.MethodPut || time.Until(u.Expires) > time.Minute {
		t.Fatalf("%+v, %v", u, err)
	}
	client := &http.Client{Transport: storage.Transport(1)}
	t.Cleanup(client.CloseIdleConnections)
	send := func(method, address, body string) int {
		req, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range u.Header {
			req.Header.Set(k, v)
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	for _, c := range []struct {
		method, address string
		ok              bool
	}{
		{"PUT", strings.Replace(u.URL, "17%2F", "18%2F", 1), false},
		{"PUT", u.URL, true},
		{"PUT", u.URL, false},
		{"GET", u.URL, false},
		{"DELETE", u.URL, false},
	} {
		if status := send(c.method, c.address, "first"); (status == http.StatusCreated) != c.ok || !c.ok && status < 400 {
			t.Errorf("%s: %d", c.method, status)
		}
	}
	p, r, err := b.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := io.ReadAll(r); string(got) != "first" || err != nil || p.ContentType != "text/plain" {
		t.Errorf("%q of %+v, %v", got, p, err)
	}
	if _, err := b.SignUpload(t.Context(), "../other/a.txt", "", time.Minute); err == nil {
		t.Error("a name that leaves the container was signed")
	}
}

// A connection string with a signature can't sign.
func TestSignUploadWithASignature(t *testing.T) {
	t.Parallel()
	creds, err := storage.FromConnectionString("BlobEndpoint=http://127.0.0.1:1/a;QueueEndpoint=http://127.0.0.1:1/a;" +
		"SharedAccessSignature=sv=2024-11-04&sp=rcw&se=2999-01-01T00:00:00Z&sig=c2VjcmV0")
	if err != nil {
		t.Fatal(err)
	}
	b, err := azure.Open(creds, stacktest.UniqueName("blobs"), azure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	if _, err := b.SignUpload(t.Context(), "a.txt", "", time.Minute); !errors.Is(err, blob.ErrUnsigned) {
		t.Error(err)
	}
}

// identity gives tokens, and answers each request with 403 and a code.
type identity struct{ code string }

func (identity) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: "token", ExpiresOn: time.Now().Add(time.Hour)}, nil
}

func (i identity) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusForbidden, Header: http.Header{"X-Ms-Error-Code": {i.code}}, Body: io.NopCloser(&bytes.Buffer{}), Request: r,
	}, nil
}

// An identity without the right to sign is no outage of the storage, and the right is named. A firewall is one.
func TestSignWithoutTheRight(t *testing.T) {
	t.Parallel()
	for code, unsigned := range map[string]bool{"AuthorizationPermissionMismatch": true, "AuthorizationFailure": false} {
		creds, err := storage.FromToken("acme", identity{code}, "authenticated by a test")
		if err != nil {
			t.Fatal(err)
		}
		b, err := azure.Open(creds, "a-documents", azure.Options{Transport: identity{code}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = b.SignDownload(t.Context(), "a.txt", time.Hour)
		e, ok := errors.AsType[*taskerr.Error](err)
		if !ok || errors.Is(err, blob.ErrUnsigned) != unsigned || (e.Dependency == "") != unsigned ||
			unsigned && !strings.Contains(e.Hint, "Storage Blob Delegator") {
			t.Errorf("%s: %#v", code, err)
		}
	}
}
