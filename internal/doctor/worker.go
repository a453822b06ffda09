package doctor

import (
	"context"
	"net/netip"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/azure"
	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/queue"
)

// Worker is the tenant's worker: functions that open what its checks need. Functions of skipped groups may be nil.
type Worker struct {
	ClientID string
	Timeout  time.Duration    // of one step; zero: DefaultTimeout
	Skip     map[Group]string // groups to skip, and why
	NoCreate bool             // queues and the container are not created

	Take bool // receives also where tasks wait: one, which is released at once

	// Waiting is called once if checks of some groups are still under way after 3 s, with the timeout of one of their steps;
	// it must not keep the slice. Nil: not called.
	Waiting func(groups []Group, timeout time.Duration)

	// Settings are the problems with the settings.
	Settings []Problem
	// Warnings are the warnings about the settings.
	Warnings []Problem

	Queues    func(context.Context) ([]queue.Probing, error)
	Container string // AZURE_STORAGE_CONTAINER
	Bucket    func(context.Context) (Bucket, error)
	// Folder returns what in the folder of the documents another user's worker can't use, and why; empty: there is nothing.
	// Nil: the documents are in Azure, or the worker is this user's.
	Folder  func(context.Context) (string, error)
	Sign    time.Duration                         // how long addresses of exported files hold; zero: they have none
	NoSign  string                                // why Sign is not known
	Grant   func(r azure.Right, on string) string // how to grant a right of the storage account
	Store   func(context.Context) (store.Examiner, error)
	Vectors int    // EMBEDDING_DIMENSIONS
	Model   string // that embeds; empty: not known
	// NextDatabase says what to do when the database does not answer, with its address; empty: without.
	NextDatabase string
	Embedder     func(context.Context) (llm.Embedder, error)
	Chat         func(context.Context) (llm.Chat, error)
	// Contexts opens the model that writes contexts of chunks; nil: CONTEXT_MODE is off.
	Contexts func(context.Context) (llm.Chat, error)
	// Pages probes the model that reads pages; nil: there is none, for the reason NoPages.
	Pages   func(context.Context) error
	NoPages string
	// Rater probes RERANK_URL; nil: it is not set.
	Rater    func(context.Context) error
	Detector func(context.Context) error // probes PII_DETECTOR_URL
	// Undetected returns the kinds of PII_KINDS that nothing finds.
	Undetected func(context.Context) ([]string, error)

	Docling   func(context.Context) error
	Gateway   func(context.Context) error
	Receivers []string // URLs of webhooks; empty: those of the last jobs
	Receiver  func(ctx context.Context, url string) (netip.AddrPort, error)
	Refused   func(error) bool            // by the guard against private addresses
	Sink      func(context.Context) error // probes EVENTS_URL
	Cognee    func(context.Context) error // probes COGNEE_URL
	// CogneeState is the outbox for Cognee; nil: the store's settings are wrong.
	CogneeState func(context.Context) (store.CogneeState, error)
	StorageAt   func(context.Context) (time.Time, error) // the storage account's clock
	Machine     Computer
	Unit        Instance
}

// Problem is a problem with a setting.
type Problem struct{ Name, Problem, Remedy string }

// Bucket is the tenant's container.
type Bucket interface {
	blob.Bucket
	Create(ctx context.Context) error
	Exists(ctx context.Context) error
}

// Computer is the machine that the worker runs on.
type Computer struct {
	TempDir   string // of a worker of this user; unused with CacheDir
	CacheDir  string // of the worker of another user; it is only looked at, and may not exist yet
	NeedBytes int64  // space that one task may need there
	// NeedMemory is what the worker and its parsers need, and Memory what they may have; nil: it is not looked for.
	NeedMemory int64
	Memory     func(context.Context) (MemoryLimit, error)
	Programs   []string
	// Run asks a program of poppler for its version.
	Run func(ctx context.Context, program string) error
	// Tesseract is nil if another engine reads pages.
	Tesseract func(ctx context.Context) (version string, languages []string, err error)
	// Office is why documents of older and other office programs can't be read; nil: they can.
	Office  func() error
	Sandbox Sandbox
}

// Sandbox is how the machine can confine parsers.
type Sandbox struct {
	Landlock  int   // its version; zero: there is none
	Without   error // why
	NoSeccomp error // why system calls can't be filtered; nil: they are
}

// Instance is the tenant's unit and its files.
type Instance struct {
	Unit        string
	EnvFile     string
	Credentials string // the folder
	Shared      string // the environment file of all tenants, if secrets are in it; else empty
	Operators   string // the id of the group that may read credentials; empty: there is none
	// Enabled asks systemd; "" and no error: there is no systemd.
	Enabled func(ctx context.Context) (string, error)
}
