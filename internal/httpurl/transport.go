package httpurl

import (
	"net/http"
	"time"
)

// pingAfter is how long a connection of HTTP/2 may be silent before it is asked whether it is alive. It is given up when
// the answer takes longer than the standard library's 15 seconds.
const pingAfter = 15 * time.Second

// Transport returns a transport like http.DefaultTransport, with connections of its own, that notices dead ones.
func Transport() *http.Transport {
	return Pinging(http.DefaultTransport.(*http.Transport).Clone()) //nolint:forbidigo // a copy
}

// Pinging makes a transport, which was not used yet, notice dead connections of HTTP/2, and returns it. All requests to
// a host share one connection, and a request that times out does not end it: when a firewall forgets it, every request
// would fail until the kernel gives it up, a quarter of an hour later.
func Pinging(t *http.Transport) *http.Transport {
	t.HTTP2 = &http.HTTP2Config{SendPingTimeout: pingAfter}
	return t
}
