// Package config reads the settings of every command from flags, systemd credentials, files and the environment. The
// table Settings has a row for each setting: Load, check-config, the help texts and the documents are made from it.
// Load reports every problem at once.
package config

import (
	"log/slog"
	"net/netip"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/apitoken"
)

// Config is the settings of one tenant's worker or command. Load reads the requested groups only; the others hold
// their defaults.
type Config struct {
	// ClientID (CLIENT_ID) names the tenant: its queues, container and rows. Default "default".
	ClientID string
	// QueueBackend (QUEUE_BACKEND) is QueueAzure, QueueNATS, QueuePostgres or QueuePGMQ. Default QueueAzure.
	QueueBackend string
	// BlobBackend (BLOB_BACKEND) is BlobAzure or BlobDir. Default BlobAzure.
	BlobBackend string
	// BlobDir (BLOB_DIR) is the folder of BlobDir.
	BlobDir  string
	Azure    Azure
	NATS     NATS
	Supabase Supabase
	// DatabaseURL (DATABASE_URL) is a direct Postgres connection, used instead of Supabase when set.
	DatabaseURL Secret
	// DBSchema (DB_SCHEMA) holds the tables. Default "public".
	DBSchema    string
	OpenAI      OpenAI
	AzureOpenAI AzureOpenAI
	Rerank      Rerank
	// EmbeddingDimensions (EMBEDDING_DIMENSIONS) is the length of every vector, 1-4000. Default 1536.
	EmbeddingDimensions int
	// LLMProvider (LLM_PROVIDER) is ProviderOpenAI (default) or ProviderOffline.
	LLMProvider string
	// ModelConcurrency (MODEL_CONCURRENCY) is how many requests to an account of a model service are in flight at a
	// time, 2-256. Default 8.
	ModelConcurrency int
	// MaxTaskTokens (MAX_TASK_TOKENS) is the most tokens of the chat model that one task may use. Default 500000.
	MaxTaskTokens int
	// SummarizeConcurrency (SUMMARIZE_CONCURRENCY) is how many calls of the chat model one summary makes at a time,
	// 1-64. Default 4.
	SummarizeConcurrency int
	Contexts             Contexts
	Docling              Docling
	// Extractor (EXTRACTOR) is ExtractorNative, ExtractorDocling or ExtractorAuto: Docling, and native while it
	// is down. Default ExtractorDocling when Docling.URL is set, else ExtractorNative.
	Extractor string
	// OCREngine (OCR_ENGINE) is OCRTesseract (default), OCROpenAI or OCRDocling.
	OCREngine string
	OCR       OCR

	PII     PII
	Gateway Gateway

	// PDFEngine (PDF_ENGINE) is PDFNative (default) or PDFSoffice.
	PDFEngine string
	// ExportURL (EXPORT_URL_HOURS) is how long the signed address of an exported deck holds at least; zero: none is made.
	// Default 24 h.
	ExportURL time.Duration

	// Concurrency (WORKER_CONCURRENCY) is how many tasks run at once, 1-256. Default 4.
	Concurrency int
	// LeaseTTL (WORKER_LEASE_TTL_SEC) is how long a worker that stopped renewing keeps its tasks, 5 s to 1 h. Default
	// 60 s.
	LeaseTTL time.Duration
	// PollMin and PollMax (POLL_MIN_MS, POLL_MAX_MS) bound the wait between two polls of an empty queue.
	// Defaults 100 ms and 10 s.
	PollMin, PollMax time.Duration
	Retry            Retry
	// WaitMax (WAIT_MAX_HOURS) bounds how long a task without max_wait_seconds waits for services that are down.
	// Default 72 h.
	WaitMax time.Duration
	// WaitMaxReleases (WAIT_MAX_RELEASES) bounds the uncounted attempts of a task while a service is down.
	// Default 1000.
	WaitMaxReleases int
	// TaskTimeout (TASK_TIMEOUT_SEC) is the timeout of a task whose hints give none. Default 30 min.
	TaskTimeout time.Duration
	// StepTimeout (STEP_TIMEOUT_SEC) is the timeout of one OCR page or one model call. Default 30 s.
	StepTimeout time.Duration
	// SourceAllowCIDRs (SOURCE_ALLOW_CIDRS) are private networks from which documents may be fetched. Default none.
	SourceAllowCIDRs []netip.Prefix
	// MaxBlobBytes (MAX_BLOB_MB, in units of 2^20 bytes) is the largest document. Default 512 MiB.
	MaxBlobBytes int64
	// ParserMemory (PARSER_MEMORY_MB, in units of 2^20 bytes) is what external programs and the decoding of images use
	// together, over all tasks. Default DefaultParserMemory.
	ParserMemory int64
	// DrainMax (DRAIN_MAX_SEC) is how long running tasks may take to finish on SIGTERM; zero: no time.
	// Default 5 min.
	DrainMax time.Duration
	// StartMax (START_MAX_SEC) is how long a start waits for services that do not answer; zero: not at all. Default 4
	// min.
	StartMax time.Duration
	// VersionKeep (VERSION_KEEP_DAYS) is how long the row of a replaced version of a document is kept.
	VersionKeep time.Duration
	// JobsKeep (JOBS_KEEP_DAYS) is how long the row of a job is kept after its end. Default 90 days.
	JobsKeep time.Duration
	// DeliveriesKeep (DELIVERIES_KEEP_DAYS) is how long a webhook is kept that was delivered or given up. Default 30 days.
	DeliveriesKeep time.Duration
	Webhook        Webhook
	Events         Events
	Tracing        Tracing
	Cognee         CogneeServer
	// HTTPAddr (HTTP_ADDR) is a TCP address for health, metrics and the API, e.g. "127.0.0.1:9090"; empty: none.
	HTTPAddr string
	// HTTPToken (HTTP_TOKEN) is the bearer token of requests to HTTPAddr; unset: none is needed on a loopback address, and
	// metrics and status are closed on others.
	HTTPToken Secret
	API       API
	// RuntimeDir ($RUNTIME_DIRECTORY, from systemd) is where the socket http.sock goes; empty: no socket.
	RuntimeDir string
	// CacheDir ($CACHE_DIRECTORY, from systemd) is for scratch files; empty: the system's temporary folder.
	CacheDir string
	// LogLevel (LOG_LEVEL) is the least severe level that is logged. Default info.
	LogLevel slog.Level
	// LogFormat (LOG_FORMAT) is LogAuto (default), LogJournal, LogText, LogJSON or LogSyslog.
	LogFormat string

	values   map[string]resolved // of the settings that were read, by name
	warnings []Problem
}

// DefaultParserMemory is PARSER_MEMORY_MB's default, in bytes: with the worker's own it is under 1 GiB.
const DefaultParserMemory = 768 << 20

// The values of settings with a fixed set of values.
const (
	QueueAzure = "azure"
	QueueNATS  = "nats"

	QueuePostgres = "postgres" // the store's database
	QueuePGMQ     = "pgmq"     // Supabase Queues, in the store's database

	BlobAzure = "azure"
	BlobDir   = "dir" // a folder of this machine, or one that is mounted

	ProviderOpenAI  = "openai"
	ProviderOffline = "offline" // no network: lexical hashing embeddings

	ExtractorNative  = "native"
	ExtractorDocling = "docling"
	ExtractorAuto    = "auto"

	OCRTesseract = "tesseract"
	OCROpenAI    = "openai" // a vision model behind an OpenAI-compatible chat endpoint
	OCRDocling   = "docling"

	PIIOff    = "off"
	PIITag    = "tag"
	PIIRedact = "redact"

	PDFNative  = "native"
	PDFSoffice = "soffice" // LibreOffice

	LogAuto    = "auto" // the journal under systemd, text on a terminal, JSON elsewhere
	LogJournal = "journal"
	LogText    = "text"
	LogJSON    = "json"
	LogSyslog  = "syslog" // the local syslog daemon
)

// QueueInDatabase reports whether the queues are in the store's database.
func (c *Config) QueueInDatabase() bool {
	return c.QueueBackend == QueuePostgres || c.QueueBackend == QueuePGMQ
}

// NATS is the server with the tenant's subjects.
type NATS struct {
	// URL (NATS_URL) holds addresses, maybe with a login.
	URL Secret
	// Credentials (NATS_CREDS) is the content of a .creds file, or the seed of an NKey.
	Credentials Secret
	// Subject (NATS_SUBJECT) is that of the tasks. Default "simple-process.jobs".
	Subject string
	// CA and Cert (NATS_CA, NATS_CERT) are certificates in PEM.
	CA, Cert string
	// Key (NATS_KEY) is Cert's, in PEM.
	Key Secret
}

// Azure is the storage account with the tenant's queues and its container.
type Azure struct {
	// ConnectionString (AZURE_STORAGE_CONNECTION_STRING) takes precedence over Account.
	ConnectionString Secret
	// Account (AZURE_STORAGE_ACCOUNT) is used with a managed identity.
	Account string
	// Container (AZURE_STORAGE_CONTAINER) is never empty. Default "<client>-documents".
	Container string
}

// Rerank is the service that rates what a search finds.
type Rerank struct {
	URL    string // RERANK_URL, the whole address; empty: there is none
	Model  string // RERANK_MODEL; empty: the service has a single one
	APIKey Secret // RERANK_API_KEY
}

// Docling is the docling-serve that reads documents.
type Docling struct {
	URL    string // DOCLING_URL, no trailing slash; empty: there is none
	APIKey Secret // DOCLING_API_KEY
}

// Supabase is a project's REST address and a key to it.
type Supabase struct {
	// URL (SUPABASE_URL) has no trailing slash; empty: there is a DatabaseURL.
	URL string
	// Key is SUPABASE_KEY (tenant-scoped) or else SUPABASE_SERVICE_ROLE_KEY.
	Key Secret
	// TenantKey reports whether Key came from SUPABASE_KEY.
	TenantKey bool
	// AnonKey (SUPABASE_ANON_KEY) is the project's own key for its gateway, needed if Key was signed elsewhere.
	AnonKey Secret
}

// OpenAI is a service with OpenAI's API.
type OpenAI struct {
	APIKey         Secret // OPENAI_API_KEY
	BaseURL        string // OPENAI_BASE_URL, no trailing slash; default https://api.openai.com/v1
	EmbeddingModel string // OPENAI_EMBEDDING_MODEL; default text-embedding-3-small
	ChatModel      string // OPENAI_CHAT_MODEL; default gpt-4o-mini
	ChatContext    int    // OPENAI_CHAT_CONTEXT, in tokens; zero: that of OpenAI's model of that name
}

// AzureOpenAI is used instead of OpenAI when Endpoint is set. Its deployments are named by the models of OpenAI.
type AzureOpenAI struct {
	Endpoint   string // AZURE_OPENAI_ENDPOINT, no trailing slash
	APIKey     Secret // AZURE_OPENAI_API_KEY
	APIVersion string // AZURE_OPENAI_API_VERSION; default 2024-10-21
}

// PII is how personal data in documents are treated.
type PII struct {
	Mode              string   // PII_MODE: PIIOff (default), PIITag or PIIRedact
	Kinds             []string // PII_KINDS; empty: all that identify a person
	DetectorURL       string   // PII_DETECTOR_URL, no trailing slash; empty: the built-in patterns alone
	DetectorLanguages []string // PII_DETECTOR_LANGUAGES, ISO 639-1; default en
}

// OCR is how page images are read.
type OCR struct {
	Model       string // OCR_MODEL, of OCROpenAI; empty: OpenAI.ChatModel
	BaseURL     string // OCR_BASE_URL, of OCROpenAI; empty: the service of OpenAI or AzureOpenAI
	APIKey      Secret // OCR_API_KEY, for BaseURL
	Concurrency int    // OCR_CONCURRENCY, 1-64 pages at a time; zero: the engine's default
	MaxTokens   int    // OCR_MAX_TOKENS, 1000-1000000000 that one task may use to read pages by OCROpenAI; zero: no limit
}

// Retry overrides the retry policy of every task type. Zero fields keep the type's policy.
type Retry struct {
	MaxAttempts int           // RETRY_MAX_ATTEMPTS, 0-100, the first try included
	Backoff     time.Duration // RETRY_BACKOFF_MS, 0-600000: the first wait
}

// API is the HTTP API on HTTPAddr and the socket.
type API struct {
	// Tokens (API_TOKENS) are the entries of the bearer tokens that are accepted. Default none.
	Tokens []apitoken.Token
	// JWTSecret (SUPABASE_JWT_SECRET) verifies the JWTs of users, whether or not there is a SUPABASE_URL; unset: the
	// project's public keys do, if there is one.
	JWTSecret Secret
	// AllowOrigins (API_ALLOW_ORIGINS) are the origins of pages that may call the API. Default none.
	AllowOrigins []string
	// HighWatermark (QUEUE_HIGH_WATERMARK) is the depth of the queues, in messages, above which no job is accepted,
	// and about how many jobs may wait for their runAt. Default 10000.
	HighWatermark int
}

// Tracing is where OpenTelemetry spans are sent.
type Tracing struct {
	Endpoint string // OTEL_EXPORTER_OTLP_ENDPOINT, no trailing slash; empty: no spans are made
	Headers  Secret // OTEL_EXPORTER_OTLP_HEADERS, "name=value,…"
}

// Webhook is how outcomes are delivered.
type Webhook struct {
	// Secret (WEBHOOK_SECRET) holds the signing secrets, separated by spaces, the newest first. Unset: webhooks are
	// not signed.
	Secret Secret
	// AllowCIDRs (WEBHOOK_ALLOW_CIDRS) may be called although they are private. Default none.
	AllowCIDRs []netip.Prefix
}

// CogneeServer is where documents go.
type CogneeServer struct {
	URL    string // COGNEE_URL, no trailing slash; empty: nowhere
	APIKey Secret // COGNEE_API_KEY; unset: none is sent
}

// Events is where lifecycle events go.
type Events struct {
	// URL (EVENTS_URL) is nats:// or tls:// with one or more servers, or an https address; unset: nowhere.
	URL Secret
	// Key (EVENTS_KEY) is Event Grid's, or a login to NATS; unset: none.
	Key Secret
	// Keep (EVENTS_KEEP_DAYS) is how long the events of a job are kept after its end. Default 7 days.
	Keep time.Duration
}

// NATS reports whether the events go to NATS, and not to an HTTP address.
func (e Events) NATS() bool { return natsScheme(e.URL.Reveal()) }
