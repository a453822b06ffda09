package config

import (
	"github.com/seed-7227ef26/async-worker/internal/naming"
)

const (
	containerPattern = `^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$`
	schemaPattern    = `^[a-z_][a-z0-9_]{0,62}$`
	subjectPattern   = `^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`
	accountPattern   = `^[a-z0-9]{3,24}$`
	modelPattern     = `^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$`
	versionPattern   = `^[0-9]{4}-[0-9]{2}-[0-9]{2}(-preview)?$`
)

func services() []Setting {
	return []Setting{
		{
			Name: "CLIENT_ID", Default: "default", Groups: Tenant | Queue | Blob | Store,
			Help:  "the tenant: names its queues, its container and its rows",
			parse: clientID,
		},
		{
			Name: "QUEUE_BACKEND", Default: QueueAzure, Groups: Queue,
			Help:   "the kind of queue: azure, nats, postgres (in the database with the jobs) or pgmq (Supabase Queues in it)",
			choice: func(c *Config) *string { return &c.QueueBackend },
			Values: []string{QueueAzure, QueueNATS, QueuePostgres, QueuePGMQ},
		},
		{
			Name: "BLOB_BACKEND", Default: BlobAzure, Groups: Blob,
			Help:   "where the documents are: azure (the container) or dir (a folder, BLOB_DIR)",
			choice: func(c *Config) *string { return &c.BlobBackend },
			Values: []string{BlobAzure, BlobDir},
			later:  []string{"nats"},
		},
		{
			Name: "BLOB_DIR", Groups: Blob,
			Help: "the folder of the documents with BLOB_BACKEND=dir; it, or the folder that it is in, must exist, and all " +
				"workers of the tenant need the same",
			parse: folder(func(c *Config) *string { return &c.BlobDir }),
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
			parse: named(func(c *Config) *string { return &c.Azure.Account }, naming.StorageAccount,
				"use the account's name alone: 3 to 24 of a-z and 0-9"),
		},
		{
			Name: "AZURE_STORAGE_CONTAINER", Shown: "<client>-documents", Groups: Blob,
			Help: "the tenant's one container",
			parse: dashed(func(c *Config) *string { return &c.Azure.Container }, containerPattern,
				"use 3 to 63 of a-z, 0-9 and single dashes, beginning and ending with a letter or digit"),
		},
		{
			Name: "NATS_URL", Shown: "none; required with QUEUE_BACKEND=nats", Secret: true, Groups: Queue,
			Help: "the NATS servers: nats://HOST:4222 or tls://HOST:4222, several separated by commas; a login as " +
				"nats://USER:PASSWORD@HOST:4222 or nats://TOKEN@HOST:4222",
			parse: natsURL,
		},
		{
			Name: "NATS_CREDS", Secret: true, Groups: Queue,
			Help:  "the content of the user's .creds file, or the seed of its NKey (SU…)",
			parse: natsCredentials,
		},
		{
			Name: "NATS_SUBJECT", Default: "simple-process.jobs", Groups: Queue,
			Help: "the subject of the tasks; those of other priorities and the dead letters have .high, .low and " +
				".deadletter appended; tenants that share an account need one each",
			parse: pattern(func(c *Config) *string { return &c.NATS.Subject }, subjectPattern,
				"use words of letters, digits, - and _ that are joined by dots, such as simple-process.southhaven.jobs"),
		},
		{
			Name: "NATS_CA", Groups: Queue,
			Help: "the certificates (PEM) of the authorities that may sign the NATS server's, best as " +
				"NATS_CA_FILE=PATH; unset: the system's",
			parse: func(c *Config, s string) *fault { return certificates(&c.NATS.CA, s) },
		},
		{
			Name: "NATS_CERT", Groups: Queue,
			Help:  "the worker's own certificate (PEM), for servers that demand one, best as NATS_CERT_FILE=PATH",
			parse: func(c *Config, s string) *fault { return certificates(&c.NATS.Cert, s) },
		},
		{
			Name: "NATS_KEY", Secret: true, Groups: Queue,
			Help:  "the key (PEM) of NATS_CERT",
			parse: secret(func(c *Config) *Secret { return &c.NATS.Key }),
		},
		{
			Name: "SUPABASE_URL", Shown: "none; this with a key, or DATABASE_URL, is required", Groups: Store,
			Help:  "the address of the Supabase project",
			parse: address(func(c *Config) *string { return &c.Supabase.URL }, "https://PROJECT.supabase.co"),
		},
		{
			Name: "SUPABASE_SERVICE_ROLE_KEY", Secret: true, Groups: Store,
			Help:  "a key to the whole project; SUPABASE_KEY takes precedence",
			parse: headerSecret(func(c *Config) *Secret { return &c.Supabase.Key }),
		},
		{
			Name: "SUPABASE_KEY", Secret: true, Groups: Store,
			Help: "a key to this tenant's rows only",
			parse: headerSecret(func(c *Config) *Secret {
				c.Supabase.TenantKey = true
				return &c.Supabase.Key
			}),
		},
		{
			Name: "SUPABASE_ANON_KEY", Secret: true, Groups: Store,
			Help: "the project's anon or publishable key, which Supabase's gateway needs in addition to a " +
				"SUPABASE_KEY that you signed yourself",
			parse: headerSecret(func(c *Config) *Secret { return &c.Supabase.AnonKey }),
		},
		{
			Name: "DATABASE_URL", Secret: true, Groups: Store | Database,
			Help:  "a direct Postgres connection, used instead of Supabase's API when set",
			parse: databaseURL,
		},
		{
			Name: "DB_SCHEMA", Default: "public", Groups: Store | Schema,
			Help: "the Postgres schema that holds the tables",
			parse: named(func(c *Config) *string { return &c.DBSchema }, naming.Schema,
				"use up to 63 of a-z, 0-9 and _, not beginning with a digit"),
		},
	}
}
