package xml

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/child"
	"github.com/seed-7227ef26/async-worker/internal/einvoice"
	"github.com/seed-7227ef26/async-worker/internal/gateway"
	"github.com/seed-7227ef26/async-worker/internal/source"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// magicWithin is where the header of a PDF may begin at the latest (ISO 32000-1, annex H, note 13).
const magicWithin = 1024

// look refuses what is not a PDF before it is paid for, and finds the XML that it carries.
func (w *work) look(ctx context.Context) error {
	file, err := os.Open(w.file.Path)
	if err != nil {
		return asIO(source.NoRoom(err))
	}
	head, err := io.ReadAll(io.LimitReader(file, magicWithin))
	_ = file.Close() // read-only
	if err != nil {
		return asIO(source.NoRoom(err))
	}
	if !bytes.Contains(head, []byte("%PDF-")) {
		return taskerr.Errorf(taskerr.UnsupportedFormat, "the document is not a PDF, and the gateway takes no other; convert it")
	}
	w.carried, err = einvoice.Find(ctx, w.file.Path, einvoice.Options{Dir: w.file.Dir, Pool: w.deps.Limits.Pool})
	failure := taskerr.Classify(err)
	_, missing := errors.AsType[*child.NotInstalledError](err)
	switch {
	case err == nil:
		return nil
	case missing && w.payload.Mapping == MappingEmbedded:
		return &taskerr.Error{Class: taskerr.InternalBug, Message: err.Error(), Cause: err}
	case missing:
		w.notes = append(w.notes, "whether the PDF carries XML is not known: "+err.Error())
	case w.payload.Mapping != MappingEmbedded &&
		(failure.Class == taskerr.CorruptionDetected || failure.Class == taskerr.UnsupportedFormat):
		w.carried = nil
		w.notes = append(w.notes, "the XML in the PDF is ignored: "+failure.Message)
	default:
		return asIO(err)
	}
	return nil
}

// embedded takes the XML of the PDF.
func (w *work) embedded() (made, error) {
	if w.carried == nil {
		return made{}, &taskerr.Error{
			Class: taskerr.ContentMissing, Code: "XML_NO_EMBEDDED_XML",
			Message: "the PDF carries no XML of an invoice (factur-x.xml, xrechnung.xml, ZUGFeRD-invoice.xml); send it with a " +
				"mapping of the gateway",
		}
	}
	return made{path: w.carried.Path, bytes: w.carried.Bytes, sha256: w.carried.SHA256, source: ByPDF}, nil
}

// direct lets the gateway make the XML.
func (w *work) direct(ctx context.Context) (made, error) {
	a, err := w.once(ctx, question{
		key:  keyOf("xml", version, w.file.SHA256, w.file.Size, w.payload.Mapping, Direct, w.payload.Pretty),
		step: string(Direct), accept: gateway.XML,
	}, func(ctx context.Context, into string) (store.AnswerFile, error) {
		return w.process(ctx, gateway.Call{
			Path: w.file.Path, Format: gateway.PDF, Accept: gateway.XML, Pretty: w.payload.Pretty, Into: into,
		})
	})
	if err != nil {
		return made{}, err
	}
	return made{
		path: a.path, bytes: a.Bytes, sha256: a.SHA256, status: a.HTTPStatus, ms: a.GatewayMS, deduplicated: a.paidByOther,
		source: ByGateway,
	}, nil
}

// process calls the gateway.
func (w *work) process(ctx context.Context, c gateway.Call) (store.AnswerFile, error) {
	w.call.Progress.Report(0, "waiting for the gateway")
	c.Mapping = w.payload.Mapping
	got, err := w.deps.Gateway.Process(ctx, c)
	if err != nil {
		return store.AnswerFile{}, err
	}
	w.uses(taskerr.Gateway)
	return store.AnswerFile{
		SHA256: got.SHA256, Bytes: got.Bytes, HTTPStatus: got.Status, GatewayMS: max(1, got.Took.Round(time.Millisecond).Milliseconds()),
	}, nil
}
