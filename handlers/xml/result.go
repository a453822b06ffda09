package xml

import (
	"fmt"
	"slices"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/einvoice"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Result is the result of the contract and some more; the store adds what only the commit knows (the ids of the rows in
// derived_contents and llm_checks).
type Result struct {
	ResultPath   string `json:"result_path"`  // the blob with the XML, in the tenant's container
	Bytes        int64  `json:"bytes"`        // of the XML
	Mapping      string `json:"mapping"`      // as requested
	Mode         Mode   `json:"mode"`         // as requested
	HTTPStatus   int    `json:"http_status"`  // of the gateway's answer; 0: it was not asked
	GatewayMS    int64  `json:"gateway_ms"`   // that the calls of the gateway took; 0: it was not asked
	Deduplicated bool   `json:"deduplicated"` // another job paid for the same bytes, mapping and mode
	// 0-1, of a checked task: how far the document bears out what the gateway read; null: it was not checked
	Confidence *float64 `json:"confidence" jsonschema:"nullable"`

	Filename      string    `json:"filename"`           // as the task names it
	ContentSHA256 string    `json:"content_sha256"`     // of the document's bytes
	SHA256        string    `json:"sha256"`             // of the XML
	Pretty        bool      `json:"pretty"`             // as requested
	Source        Source    `json:"source"`             // who made the XML
	Review        bool      `json:"review"`             // a person has to look at it: the check found too much
	Verdict       string    `json:"verdict,omitempty"`  // of a checked task: agrees, differs or unsure
	Findings      int       `json:"findings"`           // what the check found; the row in llm_checks says what and where
	Embedded      *Embedded `json:"embedded,omitempty"` // the XML that the PDF carries, if it does
	Warnings      []string  `json:"warnings,omitempty"` // what a reader of the XML should know
}

// Source is who made the XML.
type Source string

// The sources.
const (
	ByGateway Source = "gateway"
	ByPDF     Source = "embedded" // it was in the PDF
	ByModel   Source = "model"    // what the model read, after a check that failed
)

// Embedded describes the XML in a PDF.
type Embedded struct {
	Standard string `json:"standard"` // factur-x, zugferd, xrechnung or order-x
	Name     string `json:"name"`     // of the file in the PDF
	Bytes    int64  `json:"bytes"`    // of the file
	SHA256   string `json:"sha256"`   // of the file
}

// made is XML in a private file.
type made struct {
	path         string
	bytes        int64
	sha256       string
	status       int
	ms           int64
	deduplicated bool
	source       Source
	check        *check // nil: it was not checked
}

func embeddedOf(v *einvoice.Invoice) *Embedded {
	if v == nil {
		return nil
	}
	return &Embedded{v.Standard, v.Name, v.Bytes, v.SHA256}
}

// version increases when the same document gives another file.
const version = 1

// recipe names everything that decides what is made, except the bytes.
func (w *work) recipe() string {
	return fmt.Sprintf("xml@%d %s %s pretty=%v", version, w.payload.Mapping, w.payload.Mode, w.payload.Pretty)
}

// outcome returns the result, and the rows for the commit of the job's success.
func (w *work) outcome(m made, path string) handlers.Outcome {
	r := Result{
		ResultPath: path, Bytes: m.bytes, Mapping: w.payload.Mapping, Mode: w.payload.Mode, HTTPStatus: m.status,
		GatewayMS: m.ms, Deduplicated: m.deduplicated, Filename: w.payload.Filename, ContentSHA256: w.file.SHA256,
		SHA256: m.sha256, Pretty: w.payload.Pretty, Source: m.source, Embedded: embeddedOf(w.carried), Warnings: w.notes,
	}
	out := handlers.Outcome{Effects: []store.Effect{{Kind: store.EffectRecordDerived, Args: store.DerivedRecord{
		SourceFilename: w.payload.Filename, SourceBlob: w.payload.blob, SourceSHA256: w.file.SHA256,
		Recipe: w.recipe(), Blob: path, Format: "xml", Engine: string(m.source) + "/" + w.payload.Mapping,
	}}}}
	if c := m.check; c != nil {
		r.Confidence, r.Verdict, r.Findings, r.Review = &c.Confidence, c.Verdict, len(c.Findings), m.source == ByModel
		if r.Review {
			r.Warnings = append(r.Warnings, fmt.Sprintf("a person has to review it: the check found %d problems, and the XML is "+
				"what the model has read", r.Findings))
		}
		out.Effects = append(out.Effects, store.Effect{Kind: store.EffectRecordCheck, Args: store.LLMCheck{
			Confidence: c.Confidence, Verdict: c.Verdict, Findings: c.Findings, Model: c.Model,
		}})
	}
	out.Result = r
	for _, d := range w.Needs(w.call.Task) {
		if d != taskerr.Database && d != taskerr.Storage && !slices.Contains(w.used, d) {
			out.Unused = append(out.Unused, d)
		}
	}
	return out
}
