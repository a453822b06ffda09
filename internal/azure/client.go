package azure

import (
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"

	"github.com/seed-7227ef26/async-worker/internal/httpurl"
)

// QueueService returns a client of the account's queues.
func (c *Credentials) QueueService(options azcore.ClientOptions) (*azqueue.ServiceClient, error) {
	o := &azqueue.ClientOptions{ClientOptions: options}
	endpoint := c.endpoints[Queue] + "/"
	switch {
	case c.token != nil:
		return azqueue.NewServiceClient(endpoint, c.token, o)
	case c.key != "":
		key, err := azqueue.NewSharedKeyCredential(c.account, c.key)
		if err != nil {
			return nil, fmt.Errorf("the account's key: %w", err)
		}
		return azqueue.NewServiceClientWithSharedKeyCredential(endpoint, key, o)
	default:
		return azqueue.NewServiceClientWithNoCredential(endpoint+"?"+c.sas.Encode(), o)
	}
}

// Container returns a client of one of the account's blob containers.
func (c *Credentials) Container(name string, options azcore.ClientOptions) (*container.Client, error) {
	o := &container.ClientOptions{ClientOptions: options}
	endpoint := c.endpoints[Blob] + "/" + name
	switch {
	case c.token != nil:
		return container.NewClient(endpoint, c.token, o)
	case c.key != "":
		key, err := container.NewSharedKeyCredential(c.account, c.key)
		if err != nil {
			return nil, fmt.Errorf("the account's key: %w", err)
		}
		return container.NewClientWithSharedKeyCredential(endpoint, key, o)
	default:
		return container.NewClientWithNoCredential(endpoint+"?"+c.sas.Encode(), o)
	}
}

// Client returns the client for the SDK's requests over a transport. It sends no key and no signature to another host:
// a redirect, which Azure Storage never answers with, is an error. So is an answer that is not Azure's: a *ForeignError.
func Client(over http.RoundTripper) *http.Client {
	return &http.Client{Transport: httpurl.SameOrigin(authentic(over), "AZURE_STORAGE_CONNECTION_STRING")}
}

// idleConnection is how long an unused connection is kept: less than servers keep it (Azurite 5 s). A dequeue is never
// sent twice, so on a connection that the server is closing it would fail, and the poller would wait.
const idleConnection = 4 * time.Second

// Transport returns an HTTP transport for this many requests at a time (at least 1). The standard transport keeps 2
// idle connections per host, the SDK's 10: with more workers every further request would open a new connection.
func Transport(concurrency int) *http.Transport {
	connections := max(concurrency, 1) + 8 // for renewals, the outbox and commands
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true) // Azure Storage does not support HTTP/2
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:   10 * time.Second,
		ExpectContinueTimeout: time.Second,
		MaxIdleConns:          2 * connections, // for two hosts: queue and blob
		MaxIdleConnsPerHost:   connections,
		IdleConnTimeout:       idleConnection,
		DisableCompression:    true, // a blob is read as it is stored: net/http would unpack one that says that it is gzip
		Protocols:             protocols,
	}
}
