package cognee

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// Document is a version of a document to be put into a dataset.
type Document struct {
	ID          string // a UUID
	Dataset     string // its name; see DatasetName
	DocumentSet string
	Filename    string
	Version     int
	Pages       int // zero: the format has none
	SHA256      string
	// Where Cognee has an earlier version; empty: not known.
	DataID, DatasetID string
	// InGraph means that Cognee has worked that version into its graph, and can replace the changed parts of it.
	InGraph bool
	// Text writes the Markdown. It may be called more than once.
	Text func(context.Context, io.Writer) error
}

// Placed is where Cognee has a document.
type Placed struct {
	DataID, DatasetID string
	Unchanged         bool // it had the very same content, as far as it tells
}

// Put makes a version of a document the one that Cognee has: it adds it, or replaces the one that is there. Repeated, it
// has no further effect. Its errors are *Error, those of doc.Text, and the cause of ctx's end.
func (c *Client) Put(ctx context.Context, doc Document) (Placed, error) {
	placed, err := c.put(ctx, doc)
	return placed, c.blame(ctx, err)
}

func (c *Client) put(ctx context.Context, doc Document) (Placed, error) {
	if doc.DataID != "" && doc.DatasetID != "" {
		placed, err := c.update(ctx, doc, place{doc.DataID, doc.DatasetID})
		if err == nil || !c.gone(ctx, err, doc.DatasetID) {
			return placed, err
		}
	}
	placed, err := c.add(ctx, doc)
	if !is(err, conflict) {
		return placed, err
	}
	at, err := c.conflicting(ctx, doc, err)
	if err != nil {
		return Placed{}, err
	}
	return c.update(ctx, doc, at)
}

// blame decides whether a request failed alone or in an outage, when its answer is one that a wrong key or address would get
// as well: in an outage the datasets can't be listed either.
func (c *Client) blame(ctx context.Context, err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.kind != down && e.kind != refused {
		return err
	}
	switch e.Status {
	case 0, http.StatusPaymentRequired, http.StatusTooManyRequests:
		return err
	}
	if listing := c.Probe(ctx); listing != nil {
		return outage(listing)
	}
	if e.kind == refused {
		return err
	}
	return &Error{Status: e.Status, RetryAfter: e.RetryAfter, kind: failing, what: fmt.Sprintf(
		"Cognee lists its datasets, and does not take the request (HTTP %d); does something between, such as a firewall, refuse it? "+
			"Or may the key only read?", e.Status)}
}

// add uploads a document that Cognee does not have.
func (c *Client) add(ctx context.Context, doc Document) (Placed, error) {
	metadata, err := json.Marshal([]map[string]any{{
		"document_id": doc.ID, "document_set": doc.DocumentSet, "filename": doc.Filename, "version": doc.Version,
		"sha256": doc.SHA256, "pages": doc.Pages,
	}})
	if err != nil {
		return Placed{}, fmt.Errorf("cognee: %w", err)
	}
	fields := append(nodeSet(doc), field{"datasetName", doc.Dataset}, field{"external_metadata", string(metadata)},
		field{"run_in_background", "false"})
	var run struct {
		DatasetID string `json:"dataset_id"`
		Ingested  []struct {
			DataID string `json:"data_id"`
		} `json:"data_ingestion_info"`
	}
	if err := c.upload(ctx, c.o.Timeout, http.MethodPost, c.at(nil, "add"), fields, fileName(doc.ID), doc.text, &run); err != nil {
		if is(err, missing) {
			return Placed{}, &Error{Status: http.StatusNotFound, kind: down, what: noCognee}
		}
		return Placed{}, err
	}
	placed := Placed{DatasetID: run.DatasetID}
	if len(run.Ingested) > 0 {
		placed.DataID = run.Ingested[0].DataID
	}
	if placed.DataID == "" || placed.DatasetID == "" {
		at, err := c.find(ctx, doc.Dataset, doc.ID)
		if err != nil {
			return Placed{}, err
		}
		placed.DataID, placed.DatasetID = at.data, at.dataset
	}
	if placed.DataID == "" {
		return Placed{}, &Error{kind: failing, what: "Cognee took the document, and does not list it"}
	}
	return placed, nil
}

const noCognee = "there is no Cognee at COGNEE_URL (HTTP 404); it must be its address, without /api/v1"

// text writes the document, after a line that no other document has: see the package's comment.
func (doc Document) text(ctx context.Context, w io.Writer) error {
	if _, err := fmt.Fprintf(w, "Document %s: %s\n\n", doc.ID, doc.Filename); err != nil {
		return err
	}
	return doc.Text(ctx, w)
}

func nodeSet(doc Document) []field {
	return []field{{"node_set", doc.DocumentSet}, {"node_set", doc.ID}}
}

// update replaces a document. Given a node set, Cognee rebuilds the document's graph as a whole, and without one it
// replaces the changed parts, if there is a graph; otherwise it would rebuild it all the same, and lose the node set.
func (c *Client) update(ctx context.Context, doc Document, at place) (Placed, error) {
	var result struct {
		Status string `json:"status"`
	}
	send := func(fields []field) error {
		to := c.at(url.Values{"data_id": {at.data}, "dataset_id": {at.dataset}}, "update")
		return c.upload(ctx, 3*c.o.Timeout, http.MethodPatch, to, fields, fileName(doc.ID), doc.text, &result)
	}
	var fields []field
	if !doc.InGraph || c.rebuilds.Load() {
		fields = nodeSet(doc)
	}
	if err := send(fields); err != nil {
		return Placed{}, err
	}
	if result.Status == "full_rebuild" && fields == nil { // it can't replace parts: not of this graph's back end, say
		c.rebuilds.Store(true)
		if err := send(nodeSet(doc)); err != nil {
			return Placed{}, err
		}
	}
	switch result.Status {
	case "incremental", "full_rebuild", "unchanged":
		return Placed{DataID: at.data, DatasetID: at.dataset, Unchanged: result.Status == "unchanged"}, nil
	}
	return Placed{}, &Error{kind: failing, what: "Cognee did not update the document; its log says more"}
}

// conflicting returns where the document is that an upload is in conflict with.
func (c *Client) conflicting(ctx context.Context, doc Document, err error) (place, error) {
	if e := err.(*Error); e.at != (place{}) { //nolint:errorlint,forcetypeassert // is has checked it
		return e.at, nil
	}
	at, found := c.find(ctx, doc.Dataset, doc.ID)
	if found == nil && at == (place{}) {
		return at, &Error{Status: http.StatusConflict, kind: failing, what: "Cognee has the document, and does not list it"}
	}
	return at, found
}

// Forget removes a document from a dataset. It is no error if the document or the dataset is not there. An answer of 404
// may be of something between, so it counts only if Cognee doesn't list the document.
func (c *Client) Forget(ctx context.Context, datasetID, dataID string) error {
	err := c.post(ctx, c.o.Timeout, c.at(nil, "forget"), map[string]string{"datasetId": datasetID, "dataId": dataID}, nil)
	switch {
	case is(err, missing):
		err = c.unlisted(ctx, place{dataID, datasetID})
	case err == nil || c.gone(ctx, err, datasetID):
		return nil
	}
	return c.blame(ctx, err)
}

// unlisted is an error unless Cognee shows that it doesn't have a document.
func (c *Client) unlisted(ctx context.Context, at place) error {
	for item, err := range c.Items(ctx, at.dataset) {
		if err != nil {
			return err
		}
		if item.ID == at.data {
			return &Error{Status: http.StatusNotFound, kind: inconsistent, what: "Cognee lists the document, and the request to forget it is " +
				"answered with HTTP 404; does something between change the addresses of requests?"}
		}
	}
	return nil
}

// ForgetDocument is Forget for a document of which only our names are known. listed: Cognee had it.
func (c *Client) ForgetDocument(ctx context.Context, dataset, documentID string) (listed bool, err error) {
	at, err := c.find(ctx, dataset, documentID)
	if err != nil || at == (place{}) {
		return false, c.blame(ctx, err)
	}
	return true, c.Forget(ctx, at.dataset, at.data)
}

// gone reports whether a request failed because the document or its dataset is not there. Cognee answers 401, 403 or
// 422 where a dataset is not there, so the datasets are listed.
func (c *Client) gone(ctx context.Context, err error, datasetID string) bool {
	switch {
	case is(err, missing):
		return true
	case !is(err, down) && !is(err, refused):
		return false
	}
	listed, listing := c.lists(ctx, datasetID)
	return listing == nil && !listed
}
