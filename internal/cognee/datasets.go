package cognee

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Dataset is a dataset of Cognee.
type Dataset struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// Item is a row of a dataset.
type Item struct {
	ID   string `json:"id"`
	Name string `json:"name"` // of the uploaded file, without its extension
}

// Datasets lists the datasets that the key may read.
func (c *Client) Datasets(ctx context.Context) ([]Dataset, error) {
	var all []Dataset
	if err := c.get(ctx, c.at(nil, "datasets"), &all); err != nil {
		if is(err, missing) {
			return nil, &Error{Status: http.StatusNotFound, kind: down, what: noCognee}
		}
		return nil, err
	}
	return all, nil
}

// lists reports whether there is a dataset that the key may read.
func (c *Client) lists(ctx context.Context, datasetID string) (bool, error) {
	all, err := c.Datasets(ctx)
	return slices.ContainsFunc(all, func(d Dataset) bool { return d.ID == datasetID }), err
}

// Probe checks that Cognee answers and accepts the key. A list that is too long to be read is an answer, too.
func (c *Client) Probe(ctx context.Context) error {
	_, err := c.Datasets(ctx)
	if answered(err) {
		return nil
	}
	return err
}

// answered reports whether err is about a successful answer (2xx) that can't be used, such as one that is too long.
func answered(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.kind == failing && e.Status/100 == 2
}

// maxRows is how many rows a dataset may have: who lists more has no end.
const maxRows = 10_000_000

const noPages = "Cognee does not list a dataset page by page; does something between change the addresses of requests?"

// Items lists the rows of a dataset, the oldest first, page by page. A row that is added meanwhile may be missing, and
// one may come twice. A dataset that is not there has no rows.
func (c *Client) Items(ctx context.Context, datasetID string) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		first := ""
		for offset := 0; ; offset += maxItems {
			var page []Item
			query := url.Values{"limit": {strconv.Itoa(maxItems)}, "offset": {strconv.Itoa(offset)}}
			if err := c.get(ctx, c.at(query, "datasets", datasetID, "data"), &page); err != nil {
				if err = c.deleted(ctx, err, datasetID); err != nil {
					yield(Item{}, err)
				}
				return
			}
			if len(page) > maxItems || len(page) > 0 && page[0].ID == first || offset >= maxRows {
				yield(Item{}, &Error{Status: http.StatusOK, kind: failing, what: noPages})
				return
			}
			for i, one := range page {
				if i == 0 {
					first = one.ID
				}
				if !yield(one, nil) {
					return
				}
			}
			if len(page) < maxItems {
				return
			}
		}
	}
}

// deleted returns nil if the rows of a dataset could not be listed because the dataset is not there.
func (c *Client) deleted(ctx context.Context, err error, datasetID string) error {
	if !is(err, missing) {
		return err
	}
	listed, listing := c.lists(ctx, datasetID)
	switch {
	case listing != nil:
		return listing
	case listed:
		return &Error{Status: http.StatusNotFound, kind: failing, what: noPages}
	}
	return nil
}

// find looks for a document in a dataset; the zero place: it is not there.
func (c *Client) find(ctx context.Context, dataset, documentID string) (place, error) {
	all, err := c.Datasets(ctx)
	if err != nil {
		return place{}, err
	}
	for _, d := range all {
		if d.Name != dataset {
			continue
		}
		for item, err := range c.Items(ctx, d.ID) {
			if err != nil {
				return place{}, err
			}
			if id, ours := documentOf(item.Name); ours && id == documentID {
				return place{item.ID, d.ID}, nil
			}
		}
	}
	return place{}, nil
}

// The states of a run of cognify.
const (
	running  = "running"
	finished = "finished"
	errored  = "errored"
	unknown  = "unknown" // Cognee knows of no run
)

// Cognify asks Cognee to work what was added to a dataset into its graph, in the background.
func (c *Client) Cognify(ctx context.Context, datasetID string) error {
	err := c.post(ctx, quickTimeout, c.at(nil, "cognify"), map[string]any{
		"datasetIds": []string{datasetID}, "runInBackground": true,
	}, nil)
	return c.why(ctx, datasetID, err)
}

// why finds out whether a request about a dataset failed because the dataset is not there (missing), because none is
// answered (down), or by itself. Cognee answers 401, 403 or 404 for a dataset that is not there, as others do for anything.
func (c *Client) why(ctx context.Context, datasetID string, err error) error {
	if _, ok := errors.AsType[*Error](err); !ok || is(err, failing) {
		return err
	}
	switch listed, listing := c.lists(ctx, datasetID); {
	case answered(listing): // nothing is known of the dataset
		return c.blame(ctx, err)
	case listing != nil:
		return outage(listing)
	case !listed:
		return &Error{kind: missing, what: "Cognee no longer has the dataset"}
	case is(err, missing):
		return &Error{Status: http.StatusNotFound, kind: inconsistent, what: "Cognee lists the dataset, and a request about it is " +
			"answered with HTTP 404; does something between change the addresses of requests?"}
	}
	return c.blame(ctx, err)
}

// status is how far Cognee is with a dataset.
func (c *Client) status(ctx context.Context, datasetID string) (string, error) {
	var states map[string]string
	if err := c.get(ctx, c.at(url.Values{"dataset": {datasetID}}, "datasets", "status"), &states); err != nil {
		return "", c.why(ctx, datasetID, err)
	}
	switch state := strings.ToLower(strings.TrimPrefix(states[datasetID], "DATASET_PROCESSING_")); state {
	case "completed":
		return finished, nil
	case "errored", "failed":
		return errored, nil
	case "":
		return unknown, nil
	default: // INITIATED, STARTED, pending, running
		return running, nil
	}
}
