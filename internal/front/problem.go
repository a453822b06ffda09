package front

import (
	"encoding/json"
	"net/http"
	"strconv"
)

// problem is an error as RFC 9457 describes it, in the form of the workers' own.
type problem struct {
	Type       string `json:"type"`
	Title      string `json:"title"`
	Status     int    `json:"status"`
	Code       string `json:"code"`
	Detail     string `json:"detail"`
	retryAfter int    // seconds; zero: not sent
}

// What the proxy answers by itself.
var (
	notFound = problem{Status: http.StatusNotFound, Code: "NOT_FOUND", Detail: "there is no such tenant or path; a path is /t/CLIENT/v1/…"}
	busy     = problem{
		Status: http.StatusServiceUnavailable, Code: "TENANT_BUSY", retryAfter: 1,
		Detail: "too many requests to this tenant at a time; try again",
	}
	down = problem{
		Status: http.StatusBadGateway, Code: "TENANT_UNAVAILABLE", retryAfter: 2,
		Detail: "the tenant's worker does not answer; it may be restarting: try again",
	}
	silent = problem{
		Status: http.StatusGatewayTimeout, Code: "TENANT_TIMEOUT", retryAfter: 5,
		Detail: "the tenant's worker did not answer in time; try again",
	}
	elsewhere = problem{
		Status: http.StatusBadGateway, Code: "BAD_REDIRECT",
		Detail: "the tenant's worker redirects to an address outside of its path, which is not followed; report it to the " +
			"operator, with the path",
	}
	stopping = problem{
		Status: http.StatusServiceUnavailable, Code: "STOPPING", retryAfter: 2,
		Detail: "the proxy is being stopped or restarted; the request may have been done: look before you repeat it",
	}
	tooSlow  = problem{Status: http.StatusRequestTimeout, Code: "REQUEST_TIMEOUT", Detail: "the body did not arrive; send it again"}
	tooLarge = problem{
		Status: http.StatusRequestEntityTooLarge, Code: "BODY_TOO_LARGE",
		Detail: "the body has more than 32 MiB; upload a larger document with POST /v1/uploads, or async-worker enqueue --upload",
	}
)

func (p problem) write(w http.ResponseWriter) {
	p.Type, p.Title = "about:blank", http.StatusText(p.Status)
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	if p.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(p.retryAfter))
	}
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // an error means that the client is gone
}
