package config

import (
	"net/netip"
	"time"
)

func outside() []Setting {
	return []Setting{
		{
			Name: "WEBHOOK_SECRET", Secret: true, Groups: Webhooks, Live: true,
			Help: "the signing secret of webhooks (whsec_…); several are separated by spaces, the newest first; " +
				"unset: not signed",
			parse: webhookSecrets,
		},
		{
			Name: "WEBHOOK_ALLOW_CIDRS", Groups: Webhooks, Live: true,
			Help:  "private networks that webhooks may call, separated by commas",
			parse: prefixes(func(c *Config) *[]netip.Prefix { return &c.Webhook.AllowCIDRs }),
		},
		{
			Name: "EVENTS_URL", Secret: true, Groups: Publish,
			Help: "where lifecycle events of jobs go: nats://HOST:4222 or tls://HOST:4222 (several separated by commas), or " +
				"an https address that takes CloudEvents, such as Azure Event Grid (docs/events.md); unset: nowhere",
			parse: eventsURL,
		},
		{
			Name: "EVENTS_KEY", Secret: true, Groups: Publish,
			Help: "the key of EVENTS_URL: Event Grid's (sent as aeg-sas-key), or for NATS the content of a .creds file, the " +
				"seed of an NKey (SU…) or a token",
			parse: secret(func(c *Config) *Secret { return &c.Events.Key }),
		},
		{
			Name: "EVENTS_KEEP_DAYS", Default: "7", Unit: "days", Groups: Publish | Worker | HTTP,
			Help: "how long the events of a job are kept after its end, 1 to 3650; what could not be published until then " +
				"is lost to EVENTS_URL",
			parse: duration(func(c *Config) *time.Duration { return &c.Events.Keep }, day, 1, 3650),
		},
		{
			Name: "COGNEE_URL", Groups: Cognee,
			Help: "the address of a Cognee server that gets each active version of a document, and forgets deleted ones " +
				"(docs/cognee.md); unset: none does",
			parse: address(func(c *Config) *string { return &c.Cognee.URL }, "http://cognee:8000"),
		},
		{
			Name: "COGNEE_API_KEY", Secret: true, Groups: Cognee,
			Help:  "the API key for COGNEE_URL (X-Api-Key); unset: for a server without access control",
			parse: headerSecret(func(c *Config) *Secret { return &c.Cognee.APIKey }),
		},
		{
			Name: "HTTP_ADDR", Groups: HTTP,
			Help: "a TCP address for health, metrics and the HTTP API, in addition to the socket under systemd " +
				"(docs/observability.md); on any but a loopback address metrics and status need HTTP_TOKEN",
			parse: hostPort(func(c *Config) *string { return &c.HTTPAddr }),
		},
		{
			Name: "HTTP_TOKEN", Secret: true, Groups: HTTP,
			Help: "the bearer token that requests to HTTP_ADDR need, except for /livez and /readyz without ?verbose and the " +
				"HTTP API, which has tokens of its own; unset: none is needed on a loopback address, and on others metrics and " +
				"status are closed",
			parse: bearerToken,
		},
		{
			Name: "API_TOKENS", Secret: true, Groups: HTTP, Live: true,
			Help: "the entries NAME:SCOPE:HASH of the tokens that may call the HTTP API, separated by commas or lines; " +
				"async-worker token add makes them",
			parse: apiTokens,
		},
		{
			Name: SigningName, Secret: true, Groups: HTTP,
			Help: "the secret that verifies JWTs of users at the HTTP API, also without a SUPABASE_URL; with one they must be " +
				"the project's (iss); unset: the project's public keys verify them",
			parse: jwtSecret,
		},
		{
			Name: "API_ALLOW_ORIGINS", Groups: HTTP,
			Help:  "the origins of pages that may call the HTTP API (CORS), separated by commas",
			parse: origins,
		},
		{
			Name: "QUEUE_HIGH_WATERMARK", Default: "10000", Unit: "messages", Groups: HTTP,
			Help:  "the depth of the queues above which the HTTP API accepts no job, and how many jobs may wait for their runAt, 1 to 1000000",
			parse: integer(func(c *Config) *int { return &c.API.HighWatermark }, 1, 1_000_000),
		},
		{
			Name: "OTEL_EXPORTER_OTLP_ENDPOINT", Groups: Worker,
			Help: "an OpenTelemetry collector (OTLP over HTTP) that receives the spans of tasks (docs/tracing.md); " +
				"unset: no spans",
			parse: address(func(c *Config) *string { return &c.Tracing.Endpoint }, "http://localhost:4318"),
		},
		{
			Name: "OTEL_EXPORTER_OTLP_HEADERS", Secret: true, Groups: Worker,
			Help:  "headers for the collector, such as its key: name=value, separated by commas",
			parse: traceHeaders,
		},
		{
			Name: "LOG_LEVEL", Default: "info", Groups: Log, Live: true,
			Help:   "the least severe level that is logged: debug, info, warn or error",
			Values: levels(), parse: level,
		},
		{
			Name: "LOG_FORMAT", Default: LogAuto, Groups: Log,
			Help: "auto (the journal under systemd, text on a terminal, JSON elsewhere), journal, text, json or " +
				"syslog",
			choice: func(c *Config) *string { return &c.LogFormat },
			Values: []string{LogAuto, LogJournal, LogText, LogJSON, LogSyslog},
		},
	}
}
