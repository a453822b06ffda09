package config

import (
	"net/netip"
	"strings"
	"time"
)

const (
	clientPattern    = `^[a-z0-9]([a-z0-9-]{0,26}[a-z0-9])?$`
	containerPattern = `^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$`
	schemaPattern    = `^[a-z_][a-z0-9_]{0,62}$`
	accountPattern   = `^[a-z0-9]{3,24}$`
	modelPattern     = `^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$`
	versionPattern   = `^[0-9]{4}-[0-9]{2}-[0-9]{2}(-preview)?$`
)

func services() []Setting {
	return []Setting{
		{
			Name: "CLIENT_ID", Default: "default", Groups: Tenant | Queue | Blob | Store,
			Help: "the tenant: names its queues, its container and its rows",
			parse: dashed(func(c *Config) *string { return &c.ClientID }, clientPattern,
				"use 1 to 28 of a-z, 0-9 and single dashes, beginning and ending with a letter or digit"),
		},
		{
			Name: "QUEUE_BACKEND", Default: QueueAzure, Groups: Queue,
			Help: "the kind of queue",
			parse: oneOf(func(c *Config) *string { return &c.QueueBackend }, []string{QueueAzure},
				[]string{"nats", "postgres"}),
		},
		{
			Name: "AZURE_STORAGE_CONNECTION_STRING", Shown: "none; this or AZURE_STORAGE_ACCOUNT is required",
			Secret: true, Groups: Queue | Blob,
			Help:  "the storage account with the queues and the container",
			parse: connectionString,
		},
		{
			Name: "AZURE_STORAGE_ACCOUNT", Shown: "none; this or a connection string is required", Groups: Queue | Blob,
			Help: "the storage account's name, used with a managed identity instead of a connection string",
			parse: pattern(func(c *Config) *string { return &c.Azure.Account }, accountPattern,
				"use the account's name alone: 3 to 24 of a-z and 0-9"),
		},
		{
			Name: "AZURE_STORAGE_CONTAINER", Shown: "<client>-documents", Groups: Blob,
			Help: "the tenant's one container",
			parse: dashed(func(c *Config) *string { return &c.Azure.Container }, containerPattern,
				"use 3 to 63 of a-z, 0-9 and single dashes, beginning and ending with a letter or digit"),
		},
		{
			Name: "SUPABASE_URL", Shown: "none; this with a key, or DATABASE_URL, is required", Groups: Store,
			Help:  "the address of the Supabase project",
			parse: address(func(c *Config) *string { return &c.Supabase.URL }, "https://PROJECT.supabase.co"),
		},
		{
			Name: "SUPABASE_SERVICE_ROLE_KEY", Secret: true, Groups: Store,
			Help:  "a key to all of the project; SUPABASE_KEY wins over it",
			parse: secret(func(c *Config) *Secret { return &c.Supabase.Key }),
		},
		{
			Name: "SUPABASE_KEY", Secret: true, Groups: Store,
			Help: "a key to this tenant's rows only",
			parse: func(c *Config, s string) *fault {
				c.Supabase.Key, c.Supabase.TenantKey = NewSecret(s), true
				return nil
			},
		},
		{
			Name: "SUPABASE_ANON_KEY", Secret: true, Groups: Store,
			Help: "the project's anon or publishable key, which Supabase's gateway wants beside a SUPABASE_KEY " +
				"that you signed yourself",
			parse: secret(func(c *Config) *Secret { return &c.Supabase.AnonKey }),
		},
		{
			Name: "DATABASE_URL", Secret: true, Groups: Store | Database,
			Help:  "a direct Postgres connection, used instead of Supabase's API when set",
			parse: databaseURL,
		},
		{
			Name: "DB_SCHEMA", Default: "public", Groups: Store | Schema,
			Help: "the Postgres schema that holds the tables",
			parse: pattern(func(c *Config) *string { return &c.DBSchema }, schemaPattern,
				"use up to 63 of a-z, 0-9 and _, not beginning with a digit"),
		},
	}
}

func models() []Setting {
	return []Setting{
		{
			Name: "LLM_PROVIDER", Default: ProviderOpenAI, Groups: Models, Live: true,
			Help: "openai, or offline: no network, lexical hashing embeddings, extractive summaries",
			parse: oneOf(func(c *Config) *string { return &c.LLMProvider },
				[]string{ProviderOpenAI, ProviderOffline}, nil),
		},
		{
			Name: "OPENAI_API_KEY", Secret: true, Groups: Models, Live: true,
			Help:  "the key for OPENAI_BASE_URL",
			parse: secret(func(c *Config) *Secret { return &c.OpenAI.APIKey }),
		},
		{
			Name: "OPENAI_BASE_URL", Default: "https://api.openai.com/v1", Groups: Models, Live: true,
			Help:  "any service that speaks OpenAI's API",
			parse: address(func(c *Config) *string { return &c.OpenAI.BaseURL }, "https://api.openai.com/v1"),
		},
		{
			Name: "OPENAI_EMBEDDING_MODEL", Default: "text-embedding-3-small", Groups: Models, Live: true,
			Help: "the model for embeddings; on Azure OpenAI the deployment's name",
			parse: pattern(func(c *Config) *string { return &c.OpenAI.EmbeddingModel }, modelPattern,
				"use the model's or deployment's name alone"),
		},
		{
			Name: "OPENAI_CHAT_MODEL", Default: "gpt-4o-mini", Groups: Models, Live: true,
			Help: "the model for chat; on Azure OpenAI the deployment's name",
			parse: pattern(func(c *Config) *string { return &c.OpenAI.ChatModel }, modelPattern,
				"use the model's or deployment's name alone"),
		},
		{
			Name: "OPENAI_CHAT_CONTEXT", Default: "0", Unit: "tokens", Groups: Models, Live: true,
			Help: "how much fits into the context of OPENAI_CHAT_MODEL, question and answer together, 2048 to " +
				"10000000; 0: what OpenAI's model of that name has, else 128000",
			parse: zeroOr(func(c *Config) *int { return &c.OpenAI.ChatContext }, 2048, 10_000_000),
		},
		{
			Name: "MAX_TASK_TOKENS", Default: "500000", Unit: "tokens", Groups: Models, Live: true,
			Help: "a ceiling on what one task may use of the chat model, questions and answers together, 1000 to " +
				"1000000000",
			parse: integer(func(c *Config) *int { return &c.MaxTaskTokens }, 1000, 1_000_000_000),
		},
		{
			Name: "SUMMARIZE_CONCURRENCY", Default: "4", Unit: "calls", Groups: Models, Live: true,
			Help:  "how many calls of the chat model one summary of a long document makes at a time, 1 to 64",
			parse: integer(func(c *Config) *int { return &c.SummarizeConcurrency }, 1, 64),
		},
		{
			Name: "MODEL_CONCURRENCY", Default: "8", Unit: "requests", Groups: Models, Live: true,
			Help: "how many requests to one account of a model service are in flight at a time, 2 to 256; a " +
				"quarter is kept for chat, and a quarter for embeddings",
			parse: integer(func(c *Config) *int { return &c.ModelConcurrency }, 2, 256),
		},
		{
			Name: "AZURE_OPENAI_ENDPOINT", Groups: Models, Live: true,
			Help: "an Azure OpenAI resource, used instead of OPENAI_* when set",
			parse: address(func(c *Config) *string { return &c.AzureOpenAI.Endpoint },
				"https://RESOURCE.openai.azure.com"),
		},
		{
			Name: "AZURE_OPENAI_API_KEY", Secret: true, Groups: Models, Live: true,
			Help:  "the key for AZURE_OPENAI_ENDPOINT",
			parse: secret(func(c *Config) *Secret { return &c.AzureOpenAI.APIKey }),
		},
		{
			Name: "AZURE_OPENAI_API_VERSION", Default: "2024-10-21", Groups: Models, Live: true,
			Help: "the version of Azure OpenAI's API",
			parse: pattern(func(c *Config) *string { return &c.AzureOpenAI.APIVersion }, versionPattern,
				"use a version such as 2024-10-21 or 2024-12-01-preview"),
		},
		{
			Name: "EMBEDDING_DIMENSIONS", Default: "1536", Groups: Models | Store | Schema,
			Help:  "the length of the embedding vectors, 1 to 4000; the schema is made for it",
			parse: integer(func(c *Config) *int { return &c.EmbeddingDimensions }, 1, 4000),
		},
	}
}

func documents() []Setting {
	return []Setting{
		{
			Name: "DOCLING_URL", Groups: Extract, Live: true,
			Help:  "the address of a docling-serve that reads documents (docs/docling.md)",
			parse: address(func(c *Config) *string { return &c.Docling.URL }, "http://docling:5001"),
		},
		{
			Name: "DOCLING_API_KEY", Secret: true, Groups: Extract, Live: true,
			Help:  "the key for DOCLING_URL, if it asks for one",
			parse: secret(func(c *Config) *Secret { return &c.Docling.APIKey }),
		},
		{
			Name: "EXTRACTOR", Shown: "docling when DOCLING_URL is set, else native", Groups: Extract, Live: true,
			Help: "what reads documents: native, docling, or auto: docling, and native while it is down",
			parse: oneOf(func(c *Config) *string { return &c.Extractor },
				[]string{ExtractorNative, ExtractorDocling, ExtractorAuto}, nil),
		},
		{
			Name: "OCR_ENGINE", Default: OCRTesseract, Groups: Extract, Live: true,
			Help: "what reads pictures of text: tesseract, openai (a model that sees, behind an OpenAI-compatible " +
				"endpoint), or docling (DOCLING_URL)",
			parse: oneOf(func(c *Config) *string { return &c.OCREngine },
				[]string{OCRTesseract, OCROpenAI, OCRDocling}, nil),
		},
		{
			Name: "OCR_MODEL", Shown: "OPENAI_CHAT_MODEL", Groups: Extract, Live: true,
			Help: "the model for OCR_ENGINE=openai, e.g. gpt-4o, allenai/olmOCR-2-7B-1025-FP8; on Azure OpenAI the " +
				"deployment's name",
			parse: pattern(func(c *Config) *string { return &c.OCR.Model }, modelPattern,
				"use the model's or deployment's name alone"),
		},
		{
			Name: "OCR_BASE_URL", Shown: "the service of OPENAI_* or AZURE_OPENAI_*", Groups: Extract, Live: true,
			Help: "another service for OCR_ENGINE=openai, such as a vLLM server of one's own; no other key than " +
				"OCR_API_KEY goes there",
			parse: address(func(c *Config) *string { return &c.OCR.BaseURL }, "http://vllm:8000/v1"),
		},
		{
			Name: "OCR_API_KEY", Secret: true, Groups: Extract, Live: true,
			Help:  "the key for OCR_BASE_URL, if it asks for one",
			parse: secret(func(c *Config) *Secret { return &c.OCR.APIKey }),
		},
		{
			Name: "OCR_CONCURRENCY", Default: "0", Unit: "pages", Groups: Extract, Live: true,
			Help: "how many pages are read by OCR at a time, over all tasks, 1 to 64; 0: as many as there are " +
				"processors, and 4 by a service",
			parse: integer(func(c *Config) *int { return &c.OCR.Concurrency }, 0, 64),
		},
		{
			Name: "PARSER_MEMORY_MB", Default: "768", Unit: "MiB", Groups: Extract | Worker,
			Help: "the memory that poppler, tesseract and the decoding of images take together, over all tasks, " +
				"384 to 1048576; a page that needs more than two thirds of it is not read. The worker's own comes " +
				"on top, mostly under 200",
			parse: mebibytes(func(c *Config) *int64 { return &c.ParserMemory }, 384, 1<<20),
		},
		{
			Name: "PII_MODE", Default: PIIOff, Groups: Worker, Live: true,
			Help: "what is done about personal data before text goes to the model and into the index: off, tag " +
				"(count it) or redact (replace it by its kind, e.g. [EMAIL])",
			parse: oneOf(func(c *Config) *string { return &c.PII.Mode }, []string{PIIOff, PIITag, PIIRedact}, nil),
		},
		{
			Name: "PII_KINDS", Shown: "all that identify a person", Groups: Worker, Live: true,
			Help: "the kinds of personal data that count, separated by commas: EMAIL, PHONE, IBAN, CREDIT_CARD, " +
				"IP_ADDRESS, NATIONAL_ID, and what PII_DETECTOR_URL finds besides, e.g. PERSON",
			parse: list(func(c *Config) *[]string { return &c.PII.Kinds }, `^[A-Z][A-Z0-9_]{0,63}$`, strings.ToUpper,
				"use kinds such as EMAIL,PHONE,PERSON"),
		},
		{
			Name: "PII_DETECTOR_URL", Groups: Worker, Live: true,
			Help:  "a Presidio analyzer (2.2.361 or newer) that looks for personal data besides the built-in patterns",
			parse: address(func(c *Config) *string { return &c.PII.DetectorURL }, "http://localhost:5002"),
		},
		{
			Name: "PII_DETECTOR_LANGUAGES", Default: "en", Groups: Worker, Live: true,
			Help: "the languages that PII_DETECTOR_URL is set up for (ISO 639-1), separated by commas; text in " +
				"another is sent as the first",
			parse: list(func(c *Config) *[]string { return &c.PII.DetectorLanguages }, `^[a-z]{2,3}$`, strings.ToLower,
				"use languages such as en,de"),
		},
		{
			Name: "MAX_BLOB_MB", Default: "512", Unit: "MiB", Groups: Extract | Worker, Live: true,
			Help:  "the largest document, 1 to 4096",
			parse: mebibytes(func(c *Config) *int64 { return &c.MaxBlobBytes }, 1, 4096),
		},
	}
}

func worker() []Setting {
	return []Setting{
		{
			Name: "WORKER_CONCURRENCY", Default: "4", Unit: "tasks", Groups: Worker, Live: true,
			Help:  "how many tasks run at once, 1 to 256",
			parse: integer(func(c *Config) *int { return &c.Concurrency }, 1, 256),
		},
		{
			Name: "WORKER_LEASE_TTL_SEC", Default: "60", Unit: "s", Groups: Worker,
			Help:  "how long a worker that fell silent keeps its tasks, 5 to 3600",
			parse: duration(func(c *Config) *time.Duration { return &c.LeaseTTL }, time.Second, 5, 3600),
		},
		{
			Name: "POLL_MIN_MS", Default: "100", Unit: "ms", Groups: Worker, Live: true,
			Help:  "the shortest wait between two looks at an empty queue, 10 to 600000",
			parse: duration(func(c *Config) *time.Duration { return &c.PollMin }, time.Millisecond, 10, 600_000),
		},
		{
			Name: "POLL_MAX_MS", Default: "10000", Unit: "ms", Groups: Worker, Live: true,
			Help:  "the longest wait between two looks at an empty queue, 10 to 600000",
			parse: duration(func(c *Config) *time.Duration { return &c.PollMax }, time.Millisecond, 10, 600_000),
		},
		{
			Name: "RETRY_MAX_ATTEMPTS", Default: "0", Groups: Worker | Queue, Live: true,
			Help:  "how often a task is tried, the first time included, 1 to 100; 0: as its type says",
			parse: integer(func(c *Config) *int { return &c.Retry.MaxAttempts }, 0, 100),
		},
		{
			Name: "RETRY_BACKOFF_MS", Default: "0", Unit: "ms", Groups: Worker, Live: true,
			Help:  "the first wait before trying again, 1 to 600000; 0: as the task's type says",
			parse: duration(func(c *Config) *time.Duration { return &c.Retry.Backoff }, time.Millisecond, 0, 600_000),
		},
		{
			Name: "WAIT_MAX_HOURS", Default: "72", Unit: "h", Groups: Worker, Live: true,
			Help: "how long a task waits for services that are down, without an attempt, until it fails as " +
				"wait_exceeded, 1 to 8760",
			parse: duration(func(c *Config) *time.Duration { return &c.WaitMax }, time.Hour, 1, 8760),
		},
		{
			Name: "WAIT_MAX_RELEASES", Default: "1000", Groups: Worker, Live: true,
			Help: "how often a task runs without that attempt being counted, as a service went down, until it " +
				"fails as wait_exceeded, 1 to 100000",
			parse: integer(func(c *Config) *int { return &c.WaitMaxReleases }, 1, 100_000),
		},
		{
			Name: "TASK_TIMEOUT_SEC", Default: "1800", Unit: "s", Groups: Worker, Live: true,
			Help:  "how long a whole task may take unless its hints say otherwise, 1 to 86400",
			parse: duration(func(c *Config) *time.Duration { return &c.TaskTimeout }, time.Second, 1, 86_400),
		},
		{
			Name: "STEP_TIMEOUT_SEC", Default: "30", Unit: "s", Groups: Worker | Models | Extract, Live: true,
			Help:  "how long one page of OCR or one model call may take, 1 to 3600",
			parse: duration(func(c *Config) *time.Duration { return &c.StepTimeout }, time.Second, 1, 3600),
		},
		{
			Name: "DRAIN_MAX_SEC", Default: "300", Unit: "s", Groups: Worker, Live: true,
			Help:  "how long running tasks may take to finish on SIGTERM, 0 to 3600; 0: they are given back at once",
			parse: duration(func(c *Config) *time.Duration { return &c.DrainMax }, time.Second, 0, 3600),
		},
		{
			Name: "START_MAX_SEC", Default: "240", Unit: "s", Groups: Worker,
			Help: "how long a start waits for a database or a storage account that does not answer, 0 to 3600; 0: " +
				"it ends at once",
			parse: duration(func(c *Config) *time.Duration { return &c.StartMax }, time.Second, 0, 3600),
		},
		{
			Name: "VERSION_KEEP_DAYS", Default: "30", Unit: "days", Groups: Worker,
			Help: "how long it is kept on record that a version of a document was replaced, 0 to 3650; its chunks " +
				"go at once",
			parse: duration(func(c *Config) *time.Duration { return &c.VersionKeep }, day, 0, 3650),
		},
	}
}

func outside() []Setting {
	return []Setting{
		{
			Name: "WEBHOOK_SECRET", Secret: true, Groups: Webhooks, Live: true,
			Help:  "signs webhooks (whsec_…); several, the newest first, are separated by a space; unset: not signed",
			parse: webhookSecrets,
		},
		{
			Name: "WEBHOOK_ALLOW_CIDRS", Groups: Webhooks, Live: true,
			Help:  "private networks that webhooks may call all the same, separated by commas",
			parse: prefixes(func(c *Config) *[]netip.Prefix { return &c.Webhook.AllowCIDRs }),
		},
		{
			Name: "HTTP_ADDR", Groups: HTTP,
			Help: "a TCP address for health and metrics, beside the socket under systemd (docs/observability.md); " +
				"any but a loopback address needs HTTP_TOKEN",
			parse: hostPort(func(c *Config) *string { return &c.HTTPAddr }),
		},
		{
			Name: "HTTP_TOKEN", Secret: true, Groups: HTTP,
			Help: "what requests to HTTP_ADDR have to bear (Authorization: Bearer …), but for /livez and /readyz " +
				"without ?verbose; unset: loopback alone",
			parse: bearerToken,
		},
		{
			Name: "OTEL_EXPORTER_OTLP_ENDPOINT", Groups: Worker,
			Help: "an OpenTelemetry collector (OTLP over HTTP) that spans of the tasks are sent to " +
				"(docs/tracing.md); unset: none are made",
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
			Help: "auto (the journal under systemd, text on a terminal, JSON elsewhere), journal, text, json or syslog",
			parse: oneOf(func(c *Config) *string { return &c.LogFormat },
				[]string{LogAuto, LogJournal, LogText, LogJSON, LogSyslog}, nil),
		},
	}
}
