package xml

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/gateway"
	"github.com/seed-7227ef26/async-worker/internal/source"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// check is how the document bears out what the gateway read.
type check struct {
	Confidence float64   `json:"confidence"` // 0-1
	Verdict    string    `json:"verdict"`    // agrees, differs or unsure
	Findings   []finding `json:"findings"`
	Model      string    `json:"model"`
	Source     Source    `json:"source"` // of the XML
}

// checked lets the gateway read the PDF, checks the reading, and makes XML of it, or of the model's.
func (w *work) checked(ctx context.Context) (made, error) {
	a, err := w.once(ctx, question{
		key: keyOf("xml", version, w.file.SHA256, w.file.Size, w.payload.Mapping, Checked, w.payload.Pretty,
			w.deps.Chat.Model(), w.deps.Confidence, checkVersion),
		step: string(Checked), accept: gateway.XML,
	}, w.readAndCheck)
	if err != nil {
		return made{}, err
	}
	var c check
	if !details(a.Details, &c) {
		return made{}, &taskerr.Error{Class: taskerr.InternalBug, Message: "a kept answer of the gateway has no check"}
	}
	return made{
		path: a.path, bytes: a.Bytes, sha256: a.SHA256, status: a.HTTPStatus, ms: a.GatewayMS, deduplicated: a.paidByOther,
		source: c.Source, check: &c,
	}, nil
}

// readAndCheck does the steps of a checked task. Each paid one is kept by itself.
func (w *work) readAndCheck(ctx context.Context, into string) (f store.AnswerFile, err error) {
	read, err := w.once(ctx, question{
		key:  keyOf("json", version, w.file.SHA256, w.file.Size, w.payload.Mapping),
		step: "read", accept: gateway.JSON,
	}, func(ctx context.Context, into string) (store.AnswerFile, error) {
		return w.process(ctx, gateway.Call{Path: w.file.Path, Format: gateway.PDF, Accept: gateway.JSON, Into: into})
	})
	if err != nil {
		return f, err
	}
	leaves, err := readLeaves(read.path)
	if err != nil {
		return f, err
	}
	if err := w.call.Progress.Stage(stageChecking); err != nil {
		return f, err
	}
	doc, err := w.text(ctx)
	if err != nil {
		return f, err
	}
	said, err := w.compare(ctx, read.SHA256, leaves, doc)
	if err != nil {
		return f, err
	}
	c := judge(leaves, doc, said, w.deps.Confidence)
	c.Model = w.deps.Chat.Model()
	if c.Confidence >= w.deps.Confidence && c.Verdict == agrees {
		return w.finish(ctx, read, c, into)
	}
	c.Source = ByModel
	f, err = w.extraction(into, said, c)
	f.HTTPStatus, f.GatewayMS = read.HTTPStatus, read.GatewayMS
	return f, err
}

// finish makes XML of the gateway's JSON by its second call.
func (w *work) finish(ctx context.Context, read answer, c check, into string) (store.AnswerFile, error) {
	w.call.Progress.Report(0.8, "")
	xml, err := w.once(ctx, question{
		key:  keyOf("json to xml", version, read.SHA256, read.Bytes, w.payload.Mapping, w.payload.Pretty),
		step: "write", accept: gateway.XML,
	}, func(ctx context.Context, into string) (store.AnswerFile, error) {
		return w.process(ctx, gateway.Call{
			Path: read.path, Format: gateway.JSON, Accept: gateway.XML, Pretty: w.payload.Pretty, Into: into,
		})
	})
	if err != nil {
		return store.AnswerFile{}, err
	}
	if err := os.Rename(xml.path, into); err != nil {
		return store.AnswerFile{}, asIO(source.NoRoom(err))
	}
	c.Source = ByGateway
	f := xml.AnswerFile
	f.GatewayMS += read.GatewayMS
	return f, c.into(&f)
}

// into records the check with the answer.
func (c check) into(f *store.AnswerFile) (err error) {
	if f.Details, err = json.Marshal(c); err != nil {
		return fmt.Errorf("write down a check: %w", err)
	}
	return nil
}

// document is the text of an invoice by page, from 1.
type document struct {
	pages []string
}

// noteExtractor is for the next attempt.
const noteExtractor = "extract"

// text extracts the document's text.
func (w *work) text(ctx context.Context) (document, error) {
	var d document
	src, err := extract.Open(w.file.Path, w.payload.Filename)
	if err != nil {
		return d, err
	}
	src.TempDir, src.SHA256, src.Whole = w.file.Dir, w.file.SHA256, true // letterheads have tax ids and accounts
	src.Memory = w.memory.Note(noteExtractor)
	var pages []*strings.Builder
	info, err := w.deps.Extractor.Extract(ctx, src, w.deps.Limits, func(b extract.Block) error {
		n := max(b.Page, 1)
		for len(pages) < n {
			pages = append(pages, &strings.Builder{})
		}
		write(pages[n-1], b)
		return nil
	})
	if err != nil {
		return d, fmt.Errorf("read the document to check it: %w", err)
	}
	if err := w.part(ctx, info); err != nil {
		return d, err
	}
	if need := w.deps.ExtractorNeeds; need != "" && info.Service == need {
		w.uses(need)
	}
	for _, p := range pages {
		d.pages = append(d.pages, p.String())
	}
	return d, nil
}

// part looks whether the document was read as it should be. If it lacks something, another attempt may read all of it; the
// last one checks what there is, as does one that may use no more tokens to read pages. A check of a part, of what another
// extractor read as a service was down, or without pages that OCR could not read, is not kept.
func (w *work) part(ctx context.Context, info extract.Info) error {
	unread := info.Properties["unread_pages"]
	if !info.Incomplete && !info.Fallback && unread == "" {
		return nil
	}
	w.unkept = true
	lacks := slices.Clone(info.Warnings)
	if unread != "" {
		lacks = append(lacks, fmt.Sprintf("%s of %d pages could not be read by OCR to check them (%s): page %s", unread,
			info.Pages, info.Properties["unread_reason"], info.Properties["unread_list"]))
	}
	if handlers.PartAgain(ctx, w.call, info, w.memory.Note(noteExtractor)) {
		failure := taskerr.Errorf(taskerr.TransientStorage, "only a part of the document could be read to check it (%s)",
			strings.Join(lacks, "; "))
		failure.Hint = "the machine or docling-serve may be overloaded: lower WORKER_CONCURRENCY, or raise STEP_TIMEOUT_SEC"
		return failure
	}
	w.notes = append(w.notes, lacks...)
	return nil
}

// write appends a block as text. Cells stay apart, so that two numbers don't look like one.
func write(b *strings.Builder, block extract.Block) {
	if block.Table == nil {
		b.WriteString(block.Text + "\n")
		return
	}
	for _, row := range block.Table.Rows {
		for i, cell := range row {
			if i > 0 {
				b.WriteString(" | ")
			}
			b.WriteString(cell.Text)
		}
		b.WriteByte('\n')
	}
}

// readLeaves reads the values of the gateway's JSON.
func readLeaves(path string) ([]leaf, error) {
	raw, err := os.ReadFile(path) // at most gateway.MaxJSON
	if err != nil {
		return nil, asIO(source.NoRoom(err))
	}
	return flatten(raw)
}
