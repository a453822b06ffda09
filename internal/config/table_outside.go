package config

import "net/netip"

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
			Name: "HTTP_ADDR", Groups: HTTP,
			Help: "a TCP address for health and metrics, in addition to the socket under systemd " +
				"(docs/observability.md); any but a loopback address needs HTTP_TOKEN",
			parse: hostPort(func(c *Config) *string { return &c.HTTPAddr }),
		},
		{
			Name: "HTTP_TOKEN", Secret: true, Groups: HTTP,
			Help: "the bearer token that requests to HTTP_ADDR need, except for /livez and /readyz without " +
				"?verbose; unset: HTTP_ADDR must be a loopback address",
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
			Help: "the secret that verifies JWTs of the Supabase project's users at the HTTP API; unset: the project's " +
				"public keys verify them",
			parse: jwtSecret,
		},
		{
			Name: "API_ALLOW_ORIGINS", Groups: HTTP,
			Help:  "the origins of pages that may call the HTTP API (CORS), separated by commas",
			parse: origins,
		},
		{
			Name: "QUEUE_HIGH_WATERMARK", Default: "10000", Unit: "messages", Groups: HTTP,
			Help:  "the depth of the queues from which on the HTTP API accepts no job, 1 to 1000000",
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
			parse: secret(func(c *Config) *Secret { return &c.Tracing.Headers }),
		},
		{
			Name: "LOG_LEVEL", Default: "info", Groups: Log, Live: true,
			Help:  "the least severe level that is logged: debug, info, warn or error",
			parse: level,
		},
		{
			Name: "LOG_FORMAT", Default: LogAuto, Groups: Log,
			Help: "auto (the journal under systemd, text on a terminal, JSON elsewhere), journal, text, json or " +
				"syslog",
			parse: oneOf(func(c *Config) *string { return &c.LogFormat },
				[]string{LogAuto, LogJournal, LogText, LogJSON, LogSyslog}, nil),
		},
	}
}
