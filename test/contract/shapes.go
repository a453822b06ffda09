package contract

import (
	"encoding/json"
	"time"

	"github.com/invopop/jsonschema"

	"github.com/seed-7227ef26/async-worker/handlers/agent"
	"github.com/seed-7227ef26/async-worker/handlers/convert"
	"github.com/seed-7227ef26/async-worker/handlers/export"
	"github.com/seed-7227ef26/async-worker/handlers/ingest"
	"github.com/seed-7227ef26/async-worker/handlers/ocr"
	"github.com/seed-7227ef26/async-worker/handlers/summarize"
	"github.com/seed-7227ef26/async-worker/handlers/xml"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// shape is the payload and the results of a task type.
type shape struct {
	name    string // of the results in the schema
	payload any
	results []any                            // several: one of them
	narrow  func(payload *jsonschema.Schema) // adds what tags can't express; may be nil
}

func shapes() map[task.Type]shape {
	return map[task.Type]shape{
		task.Ingest:    {"ingest", ingest.Payload{}, []any{Ingested{}, Deleted{}, Spread{}}, ingestsOneOrMany},
		task.Summarize: {"summarize", summarize.Payload{}, []any{Summarized{}}, hasADocument},
		task.Agent:     {"agent", agent.Payload{}, []any{Answered{}}, answersByASchema},
		task.AI:        {"ai", agent.Payload{}, []any{Answered{}}, answersByASchema},
		task.OCR:       {"ocr", ocr.Payload{}, []any{Read{}}, hasADocument},
		task.XML:       {"xml", xml.Payload{}, []any{InXML{}}, embeddedIsDirect},
		task.Convert:   {"convert", convert.Payload{}, []any{Converted{}}, hasADocument},
		task.Export:    {"export", export.Payload{}, []any{Exported{}}, deckOrBlob},
	}
}

// hasADocument: filename or source_uri is required, and source_uri excludes blob.
func hasADocument(payload *jsonschema.Schema) {
	payload.AnyOf = []*jsonschema.Schema{{Required: []string{"filename"}}, {Required: []string{"source_uri"}}}
	payload.AllOf = append(payload.AllOf, without("source_uri", "blob"))
}

// ingestsOneOrMany is hasADocument, or a prefix in its place; and purge and the like require what they are about.
func ingestsOneOrMany(payload *jsonschema.Schema) {
	hasADocument(payload)
	payload.AnyOf = append(payload.AnyOf, &jsonschema.Schema{Required: []string{"prefix"}})
	for _, other := range []string{"filename", "blob", "source_uri", "delete"} {
		payload.AllOf = append(payload.AllOf, without("prefix", other))
	}
	yes := &jsonschema.Schema{Const: true}
	for _, name := range []string{"purge", "only_missing"} {
		payload.AllOf = append(payload.AllOf, &jsonschema.Schema{If: having(name, yes), Then: having("delete", yes)})
	}
	payload.AllOf = append(payload.AllOf, &jsonschema.Schema{
		If: having("delete_missing", yes), Then: &jsonschema.Schema{Required: []string{"prefix"}},
	})
	removesByName(payload, yes)
}

// removesByName: only a blob can be gone, and only that of a blob is a name without asking a server.
func removesByName(payload *jsonschema.Schema, yes *jsonschema.Schema) {
	blob := having("source_uri", &jsonschema.Schema{Pattern: "^blob:"}).Properties
	payload.AllOf = append(payload.AllOf, &jsonschema.Schema{
		If:   having("only_missing", yes),
		Then: &jsonschema.Schema{Properties: blob},
	}, &jsonschema.Schema{
		If: having("delete", yes),
		Then: &jsonschema.Schema{
			AnyOf: []*jsonschema.Schema{{Properties: blob}, {Required: []string{"filename"}}},
		},
	})
}

// without: not both fields.
func without(one, other string) *jsonschema.Schema {
	return &jsonschema.Schema{Not: &jsonschema.Schema{Required: []string{one, other}}}
}

// answersByASchema: response_schema is a JSON Schema, of the same draft unless it names another one. The set may be empty.
func answersByASchema(payload *jsonschema.Schema) {
	if s, there := payload.Properties.Get("response_schema"); there {
		ours := having("$schema", &jsonschema.Schema{Const: jsonschema.Version})
		ours.Required = nil
		*s = jsonschema.Schema{
			Type: "object", Description: s.Description, If: ours, Then: &jsonschema.Schema{Ref: jsonschema.Version},
		}
	}
	if s, there := payload.Properties.Get("document_set"); there {
		s.Pattern = "^(" + setName + ")?$"
	}
}

// embeddedIsDirect: what is taken from the PDF as it is, is not checked.
func embeddedIsDirect(payload *jsonschema.Schema) {
	payload.AllOf = append(payload.AllOf, &jsonschema.Schema{
		If: having("mapping", &jsonschema.Schema{Const: xml.MappingEmbedded}),
		Then: &jsonschema.Schema{
			Properties: having("mode", &jsonschema.Schema{Const: xml.Direct}).Properties,
		},
	})
}

// deckOrBlob: a deck is named by its id or by its blob.
func deckOrBlob(payload *jsonschema.Schema) {
	payload.OneOf = []*jsonschema.Schema{{Required: []string{"deck_id"}}, {Required: []string{"blob"}}}
}

// Took is in every result.
type Took struct {
	ProcessingTimeMS int64 `json:"processing_time_ms"` // how long the attempt took
}

// Ingested is the result for a document that is in the index.
type Ingested struct {
	ingest.Result
	Took
	// that the document states, or its first heading; null: it has none
	Title *string `json:"title,omitempty" jsonschema:"nullable"`
	// ISO 639-1, a BCP 47 tag, or und; null: it was indexed before languages were detected
	Language *string `json:"language,omitempty" jsonschema:"nullable"`
	Version  int     `json:"version"` // of the document, from 1; the same text keeps its version
}

// Deleted is the result for a document that was removed from the index.
type Deleted struct {
	ingest.Removal
	Took
	DocumentID    *string  `json:"document_id" jsonschema:"nullable"` // null: it was not indexed
	Deleted       bool     `json:"deleted" jsonschema:"required"`     // false: it was not indexed
	ChunksDeleted int      `json:"chunks_deleted"`                    // of its active version
	Removed       Removed  `json:"removed"`                           // other removed rows and blobs
	Kept          Kept     `json:"kept"`                              // what was derived from it and stays
	KeptBlobs     []string `json:"kept_blobs"`                        // at most 100 names of derived blobs and decks that stay
}

// Spread is the result for a prefix: how many jobs were submitted for its blobs.
type Spread struct {
	ingest.Spread
	Took
}

// Removed is what was removed with a document, by kind.
type Removed struct {
	PageReadings    int `json:"page_readings"`    // of OCR
	Summaries       int `json:"summaries"`        // of its text
	SummaryNotes    int `json:"summary_notes"`    // answers of the model, for summaries and contexts
	DerivedContents int `json:"derived_contents"` // rows
	Decks           int `json:"decks"`            // rows
	DerivedBlobs    int `json:"derived_blobs"`    // with purge
	GatewayAnswers  int `json:"gateway_answers"`  // that are kept no longer
}

// Kept is what was derived from a document and stays, by kind.
type Kept struct {
	DerivedBlobs int `json:"derived_blobs"` // see kept_blobs
	AgentRuns    int `json:"agent_runs"`    // that cite it
	TaskResults  int `json:"task_results"`  // in the rows of jobs
}

// Summarized is the result of a summary.
type Summarized struct {
	summarize.Result
	Took
	SummaryID string `json:"summary_id"` // of its row
}

// Answered is the result of an agent task.
type Answered struct {
	agent.Result
	Took
	RunID string `json:"run_id"` // of its row
}

// Read is the result for a document that was derived from a scan.
type Read struct {
	ocr.Result
	Took
	DerivedContentID string `json:"derived_content_id"` // of its row
	Version          int    `json:"version"`            // of what is derived from the document
}

// InXML is the result for an invoice as XML.
type InXML struct {
	xml.Result
	Took
	DerivedContentID string `json:"derived_content_id"` // of its row
	Version          int    `json:"version"`            // of what is derived from the document
	DerivedBlob      string `json:"derived_blob"`       // as result_path
	CheckID          string `json:"check_id,omitempty"` // of a checked task: of the row in llm_checks
}

// Converted is the result for a document that was converted to a deck.
type Converted struct {
	convert.Result
	Took
	DeckID     string `json:"deck_id"`     // of its row
	ResultPath string `json:"result_path"` // the blob with the deck's JSON, in the tenant's container
}

// Exported is the result for a deck that was written as a file.
type Exported struct {
	export.Result
	Took
}

// Webhook is the body of a webhook.
type Webhook struct {
	// What happened. task.rejected is about a message, and not an outcome of the job with this id. task.started and
	// task.progress come where webhook_events asks for them, each once, and maybe late: see timestamp.
	Type string `json:"type" jsonschema:"enum=task.started,enum=task.progress,enum=task.completed,enum=task.failed,enum=task.canceled,enum=task.rejected"`
	// When, by the database's clock.
	Timestamp time.Time `json:"timestamp"`
	// Null: the refused message has none.
	TaskID *string `json:"task_id" jsonschema:"nullable"`
	// Null: the refused message has none.
	TaskType *string `json:"task_type" jsonschema:"nullable"`
	// The tenant.
	ClientID string `json:"client_id"`
	// The state of the job; of task.rejected that of the message.
	Status string `json:"status" jsonschema:"enum=running,enum=completed,enum=failed,enum=canceled,enum=rejected"`
	// The attempt that runs, or ended the job; 0: none began.
	Attempt int `json:"attempt"`
	// Of task.completed, by task_type.
	Result json.RawMessage `json:"result,omitempty"`
	// Of task.failed and task.rejected; of the latter the code may be TASK_ID_CONFLICT or TASK_ALREADY_FAILED.
	Error *Failure `json:"error,omitempty"`
	// Of task.progress: the stage that the task is in.
	Stage string `json:"stage,omitempty"`
	// Of task.progress: how much is done, in percent.
	Progress int `json:"progress,omitempty" jsonschema:"minimum=0,maximum=100"`
	// Of task.progress: how many pages are done, if the task is about pages.
	PagesCompleted int `json:"pages_completed,omitempty" jsonschema:"minimum=0"`
	// Of task.progress: how many pages there are, when that is known.
	TotalPages int `json:"total_pages,omitempty" jsonschema:"minimum=0"`
}

// Failure is the reason why there is no result.
type Failure struct {
	Type             string `json:"type"`               // the class in camel case, e.g. UnsupportedFormat
	Message          string `json:"message"`            // for people; never the text of a document
	Class            string `json:"class"`              // see state_machine.md
	Code             string `json:"code"`               // TYPE_CLASS, e.g. INGEST_UNSUPPORTED_FORMAT
	Retryable        bool   `json:"retryable"`          // the same task under another id may succeed
	Attempts         int    `json:"attempts"`           // attempts that count
	ErrorType        string `json:"error_type"`         // validation, transient, permanent or timeout
	RetryCount       int    `json:"retry_count"`        // attempts after the first
	ProcessingTimeMS int64  `json:"processing_time_ms"` // how long the last attempt took
	WorkerID         string `json:"worker_id"`          // of the last attempt
}
