package azure_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/service"

	"github.com/seed-7227ef26/async-worker/internal/azure"
	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func TestMain(m *testing.M) {
	stacktest.Main(m, leaktest.Find)
}

const secret = "c2VjcmV0LWtleQ=="

func TestConnectionStrings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ s, queue, blob string }{
		"portal": {"DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=" + secret +
			";EndpointSuffix=core.windows.net", "acme.queue.core.windows.net", "acme.blob.core.windows.net"},
		"other cloud": {
			"AccountName=acme;AccountKey=" + secret + ";EndpointSuffix=core.chinacloudapi.cn;",
			"acme.queue.core.chinacloudapi.cn", "acme.blob.core.chinacloudapi.cn",
		},
		"own endpoints": {
			"AccountName=acme;AccountKey=" + secret +
				";QueueEndpoint=http://127.0.0.1:1/acme/;BlobEndpoint=http://127.0.0.1:2/acme", "127.0.0.1:1",
			"127.0.0.1:2",
		},
		"signature": {"QueueEndpoint=https://q.example;BlobEndpoint=https://b.example;SharedAccessSignature=sv=2024&sig=" + secret, "q.example", "b.example"},
		"quoted": {
			`"accountname=acme; accountkey=` + secret + `;"` + "\n", "acme.queue.core.windows.net",
			"acme.blob.core.windows.net",
		},
		"emulator": {"UseDevelopmentStorage=true", "127.0.0.1:10001", "127.0.0.1:10000"},
		"emulator there": {
			"UseDevelopmentStorage=true;DevelopmentStorageProxyUri=http://azurite.example",
			"azurite.example:10001", "azurite.example:10000",
		},
	} {
		creds, err := azure.FromConnectionString(c.s)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if creds.Host(azure.Queue) != c.queue || creds.Host(azure.Blob) != c.blob {
			t.Errorf("%s: queue at %s, blob at %s", name, creds.Host(azure.Queue), creds.Host(azure.Blob))
		}
		if printed := fmt.Sprintf("%v %+v %#v %s", creds, creds, creds, *creds); strings.Contains(printed, "c2VjcmV0") {
			t.Errorf("%s: prints its secret: %s", name, printed)
		}
	}
}

func TestBadConnectionStrings(t *testing.T) {
	t.Parallel()
	for s, says := range map[string]string{
		"":                 "empty",
		" ; ":              "empty",
		secret:             "neither an AccountName",
		"AccountName=acme": "neither an AccountKey nor a SharedAccessSignature",
		"AccountName=acme;AccountKey=" + secret + "!": "not base64",
		"AccountName=Acme Ltd;AccountKey=" +
			secret: "not a storage account's name",
		"AccountKey=" + secret + ";QueueEndpoint=https://q.example;BlobEndpoint=https://b.example": "no AccountName",
		"AccountName=acme;AccountKey=" + secret + ";QueueEndpoint=q.example":                       "http or https",
		"AccountName=acme;AccountKey=" + secret + ";" + secret[:8]:                                 "part 3",
		"AccountName=acme;SharedAccessSignature=sv=2024":                                           "sig=",
		"AccountName=acme;SharedAccessSignature=?sv=2024&se=2020-01-01T00:00:00Z&sig=" +
			secret: "expired at 2020-01-01",
		"UseDevelopmentStorage=true;DevelopmentStorageProxyUri=" +
			secret: "DevelopmentStorageProxyUri",
		"SharedAccessSignature=sv=2024&sig=" + secret + ";BlobEndpoint=https://b.example/?" + secret: "QueueEndpoint",
	} {
		_, err := azure.FromConnectionString(s)
		if err == nil || !strings.Contains(err.Error(), says) ||
			!strings.Contains(err.Error(), "AZURE_STORAGE_CONNECTION_STRING") {
			t.Errorf("%q: got %v, want an error that says %q", s, err, says)
		} else if strings.Contains(err.Error(), "c2VjcmV0") {
			t.Errorf("%q: the error repeats the secret: %v", s, err)
		}
	}
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	if _, err := azure.FromIdentity("https://acme.example"); err == nil ||
		!strings.Contains(err.Error(), "AZURE_STORAGE_ACCOUNT") {
		t.Errorf("got %v, want an error that names the setting", err)
	}
	creds, err := azure.FromIdentity("acme")
	if err != nil {
		t.Fatal(err)
	}
	if creds.Host(azure.Queue) != "acme.queue.core.windows.net" {
		t.Errorf("queue at %s", creds.Host(azure.Queue))
	}
	if s := creds.String(); os.Getenv("IDENTITY_ENDPOINT") == "" && !strings.Contains(s, "managed identity") &&
		!strings.Contains(s, "default credential chain") {
		t.Errorf("%q doesn't say which identity", s)
	}
}

// A connection string with a shared access signature works for both services, and its errors name what it lacks.
func TestSharedAccessSignature(t *testing.T) {
	t.Parallel()
	connectionString := stacktest.Azurite(t)
	owner, err := service.NewClientFromConnectionString(connectionString, nil)
	if err != nil {
		t.Fatal(err)
	}
	credentials := func(permissions sas.AccountPermissions) *azure.Credentials {
		signed, err := owner.GetSASURL(sas.AccountResourceTypes{Service: true, Container: true, Object: true},
			permissions, time.Now().Add(time.Hour), nil)
		if err != nil {
			t.Fatal(err)
		}
		_, signature, _ := strings.Cut(signed, "?")
		var s strings.Builder
		s.WriteString("SharedAccessSignature=" + signature)
		for part := range strings.SplitSeq(connectionString, ";") {
			if strings.HasSuffix(strings.SplitN(part, "=", 2)[0], "Endpoint") {
				s.WriteString(";" + part)
			}
		}
		creds, err := azure.FromConnectionString(s.String())
		if err != nil {
			t.Fatal(err)
		}
		return creds
	}
	transport := azure.Transport(2)
	t.Cleanup(transport.CloseIdleConnections)
	options := azcore.ClientOptions{
		Transport: &http.Client{Transport: transport}, Retry: policy.RetryOptions{MaxRetries: -1},
	}

	may, mayNot := credentials(sas.AccountPermissions{Read: true, Write: true, Create: true}),
		credentials(sas.AccountPermissions{Read: true})
	container, err := may.Container(stacktest.UniqueName("sas"), options)
	if err == nil {
		_, err = container.Create(t.Context(), nil)
	}
	if err != nil {
		t.Error(may.Explain(azure.Blob, "create", err))
	}
	container, err = mayNot.Container(stacktest.UniqueName("sas"), options)
	if err != nil {
		t.Fatal(err)
	}
	_, err = container.Create(t.Context(), nil)
	err = mayNot.Explain(azure.Blob, "create the container", err)
	if p, ok := errors.AsType[*azure.Problem](err); !ok || p.Kind != azure.Permission ||
		strings.Contains(err.Error(), "sig=") {
		t.Errorf("got %v, want a problem with permissions", err)
	}
}

func TestExplainKeepsTheEndOfAContext(t *testing.T) {
	t.Parallel()
	creds, err := azure.FromConnectionString("UseDevelopmentStorage=true")
	if err != nil {
		t.Fatal(err)
	}
	if creds.Explain(azure.Queue, "x", nil) != nil {
		t.Error("no error was explained")
	}
	for _, cause := range []error{context.Canceled, context.DeadlineExceeded} {
		err := creds.Explain(azure.Queue, "x", fmt.Errorf("wrapped: %w", cause))
		if !errors.Is(err, cause) {
			t.Errorf("%v can't be recognized in %v", cause, err)
		}
		if e, ok := errors.AsType[*taskerr.Error](err); !ok || !taskerr.Classes[e.Class].Retryable {
			t.Errorf("%v is not a retryable job error", err)
		}
	}
}

// A request that is sent and not answered is explained in words that are not net/http's, and is still a timeout.
func TestExplainSilence(t *testing.T) {
	t.Parallel()
	creds, err := azure.FromConnectionString("UseDevelopmentStorage=true")
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer server.Close()
	over := azure.Transport(1)
	over.ResponseHeaderTimeout = 50 * time.Millisecond
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/a?sig=secret", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := (&http.Client{Transport: over}).Do(r)
	if err == nil {
		_ = answer.Body.Close()
		t.Fatal("it was answered")
	}
	err = creds.Explain(azure.Blob, "open blob", err)
	e, ok := errors.AsType[*taskerr.Error](err)
	if !ok || e.Class != taskerr.NetworkTimeout ||
		e.Message != "open blob: the service took the request and did not answer in time" {
		t.Errorf("%v", err)
	}
}
