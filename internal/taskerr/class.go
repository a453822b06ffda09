// Package taskerr is the one typed error with which a handler, a parser or a back end ends an attempt at a
// task: its class, which decides whether it is retried and what a webhook calls it, and the service whose
// fault it is. The table of classes is the contract's; it does no I/O.
package taskerr

// Class says what kind of error ended an attempt; everything else about it follows from the table.
type Class string

// The error classes.
const (
	ValidationError       Class = "validation_error"
	UnsupportedFormat     Class = "unsupported_format"
	ContentMissing        Class = "content_missing"
	CorruptionDetected    Class = "corruption_detected"
	QuotaExceeded         Class = "quota_exceeded"
	InternalBug           Class = "internal_bug"
	Timeout               Class = "timeout"
	TransientStorage      Class = "transient_storage"
	NetworkTimeout        Class = "network_timeout"
	AIRateLimit           Class = "ai_rate_limit"
	ModelOverloaded       Class = "model_overloaded"
	DependencyUnavailable Class = "dependency_unavailable"
	WorkerLost            Class = "worker_lost"
	WaitExceeded          Class = "wait_exceeded" // what the task needs was down for too long, or too often
)

// Info is what follows from a class.
type Info struct {
	Retryable bool
	Coarse    string // validation, permanent, timeout or transient
	TypeName  string // error.type in webhooks
	Code      string // default suffix of error.code; the upper-case task type goes before it
}

// Classes maps each class to what follows from it.
var Classes = map[Class]Info{
	ValidationError:       {false, "validation", "ValidationError", "VALIDATION_ERROR"},
	UnsupportedFormat:     {false, "validation", "UnsupportedFormat", "UNSUPPORTED_FORMAT"},
	ContentMissing:        {false, "validation", "ContentMissing", "CONTENT_MISSING"},
	CorruptionDetected:    {false, "permanent", "CorruptionDetected", "CORRUPTION_DETECTED"},
	QuotaExceeded:         {false, "permanent", "QuotaExceeded", "QUOTA_EXCEEDED"},
	InternalBug:           {false, "permanent", "InternalError", "INTERNAL_BUG"},
	Timeout:               {false, "timeout", "Timeout", "TIMEOUT"},
	TransientStorage:      {true, "transient", "StorageUnavailable", "IO_ERROR"},
	NetworkTimeout:        {true, "transient", "NetworkTimeout", "NETWORK_TIMEOUT"},
	AIRateLimit:           {true, "transient", "RateLimited", "AI_RATE_LIMIT"},
	ModelOverloaded:       {true, "transient", "ModelOverloaded", "MODEL_OVERLOADED"},
	DependencyUnavailable: {true, "transient", "DependencyUnavailable", "DEPENDENCY_UNAVAILABLE"},
	WorkerLost:            {true, "transient", "WorkerLost", "WORKER_LOST"},
	WaitExceeded:          {false, "timeout", "WaitExceeded", "WAIT_EXCEEDED"},
}
