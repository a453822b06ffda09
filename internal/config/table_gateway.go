package config

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/httpurl"
)

// Gateway is the service that makes XML of invoices.
type Gateway struct {
	URL         string        // GATEWAY_URL, no trailing slash; empty: there is none
	Timeout     time.Duration // GATEWAY_TIMEOUT_MS, of one call. Default 3 min
	HealthPath  string        // GATEWAY_HEALTH_PATH. Default /health
	Concurrency int           // GATEWAY_CONCURRENCY: xml tasks at a time, 1-256. Default 4
	MaxBytes    int64         // GATEWAY_MAX_MB, in units of 2^20 bytes: the largest answer. Default 64 MiB
	Confidence  float64       // CHECK_CONFIDENCE, 0-1. Default 0.85
}

func gateways() []Setting {
	return []Setting{
		{
			Name: "GATEWAY_URL", Groups: Worker, Live: true,
			Help:  "the address of the gateway that makes XML of invoices, without /process (docs/gateway.md)",
			parse: address(func(c *Config) *string { return &c.Gateway.URL }, "https://gateway.example"),
		},
		{
			Name: "GATEWAY_TIMEOUT_MS", Default: "180000", Unit: "ms", Groups: Worker, Live: true,
			Help:  "how long one call of the gateway may take, 1000 to 3600000",
			parse: duration(func(c *Config) *time.Duration { return &c.Gateway.Timeout }, time.Millisecond, 1000, 3_600_000),
		},
		{
			Name: "GATEWAY_HEALTH_PATH", Default: "/health", Groups: Worker, Live: true,
			Help: "what tells that the gateway is up: a path below GATEWAY_URL that answers GET with 200",
			parse: pattern(func(c *Config) *string { return &c.Gateway.HealthPath },
				`^/([A-Za-z0-9._~%-]+(/[A-Za-z0-9._~%-]+)*/?)?(\?[A-Za-z0-9._~%=&-]*)?$`, "set it to a path such as /health"),
		},
		{
			Name: "GATEWAY_CONCURRENCY", Default: "4", Unit: "tasks", Groups: Worker, Live: true,
			Help:  "how many xml tasks run at a time, 1 to 256, within WORKER_CONCURRENCY",
			parse: integer(func(c *Config) *int { return &c.Gateway.Concurrency }, 1, 256),
		},
		{
			Name: "GATEWAY_MAX_MB", Default: "64", Unit: "MiB", Groups: Worker, Live: true,
			Help:  "the largest XML that the gateway may answer, 1 to 4096",
			parse: mebibytes(func(c *Config) *int64 { return &c.Gateway.MaxBytes }, 1, 4096),
		},
		{
			Name: "CHECK_CONFIDENCE", Default: "0.85", Groups: Worker, Live: true,
			Help: "from which confidence on the gateway's reading of an invoice is taken in the mode checked, 0 to 1; below, " +
				"the XML is what the model has read, for a person to review",
			parse: fraction(func(c *Config) *float64 { return &c.Gateway.Confidence }),
		},
	}
}

// fraction reads a number from 0 to 1.
func fraction(field func(*Config) *float64) parser {
	return func(c *Config, s string) *fault {
		n, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
		if err != nil || math.IsNaN(n) || n < 0 || n > 1 {
			return &fault{quoted(s) + " is not a number from 0 to 1", "set it to a number such as 0.85"}
		}
		*field(c) = n
		return nil
	}
}

// checkGateway warns of a gateway that documents reach unencrypted, and of a timeout that can't be used.
func (l *loader) checkGateway() {
	if !l.given("GATEWAY_URL") {
		return
	}
	if httpurl.Exposed(l.cfg.Gateway.URL) {
		l.warn("GATEWAY_URL", "documents travel unencrypted over http", "use https, unless the network between them is trusted")
	}
	if l.fine("GATEWAY_TIMEOUT_MS", "TASK_TIMEOUT_SEC") && l.cfg.Gateway.Timeout >= l.cfg.TaskTimeout {
		l.warn("GATEWAY_TIMEOUT_MS", "it is not less than TASK_TIMEOUT_SEC: a call that takes long ends its task for good",
			"lower it, or raise TASK_TIMEOUT_SEC")
	}
}
