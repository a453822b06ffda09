package docling

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// statusBytes limits the answer to a submission or a poll.
const statusBytes = 1 << 20

// request sends one request and returns the response if its status is 200. For another status the error is
// refusal's, for a failed connection transport's.
func (c *Client) request(
	ctx context.Context, method string, to *url.URL, edit func(*http.Request),
) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, to.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("docling: %w", err)
	}
	r.Header.Set("Accept", "application/json")
	if c.o.APIKey != "" {
		r.Header.Set("X-Api-Key", c.o.APIKey)
	}
	if c.o.Tenant != "" {
		r.Header.Set("X-Tenant-Id", c.o.Tenant)
	}
	if edit != nil {
		edit(r)
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return nil, transport(ctx, err)
	}
	if answer.StatusCode == http.StatusOK {
		return answer, nil
	}
	defer func() { _ = answer.Body.Close() }() // read-only
	return nil, refusal(answer)
}

// submit sends the file and returns the task's id. It doesn't retry: if only the answer is lost, the server
// still converts the file.
func (c *Client) submit(ctx context.Context, q Request) (string, error) {
	info, err := os.Stat(q.Path)
	if err != nil {
		return "", fmt.Errorf("docling: inspect the file: %w", err)
	}
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	if err := writeFields(w, q); err != nil {
		return "", err
	}
	head := form.Len()
	if err := w.Close(); err != nil {
		return "", fmt.Errorf("docling: write the form: %w", err)
	}
	before, after := form.Bytes()[:head], form.Bytes()[head:]
	body := func() (io.ReadCloser, error) {
		file, err := os.Open(q.Path)
		if err != nil {
			return nil, fmt.Errorf("docling: open the file: %w", err)
		}
		return &multi{
			io.MultiReader(bytes.NewReader(before), io.LimitReader(file, info.Size()), bytes.NewReader(after)), file,
		}, nil
	}
	first, err := body()
	if err != nil {
		return "", err
	}
	ctx, cancel := bounded(ctx, submitTimeout+time.Duration(info.Size()>>20)*time.Second)
	defer cancel()
	answer, err := c.request(ctx, http.MethodPost, c.base.JoinPath("v1/convert/file/async"), func(r *http.Request) {
		r.Body, r.GetBody, r.ContentLength = first, body, int64(len(before)+len(after))+info.Size()
		r.Header.Set("Content-Type", w.FormDataContentType())
	})
	if err != nil {
		return "", err
	}
	defer func() { _ = answer.Body.Close() }() // read-only
	status, err := readStatus(ctx, answer.Body)
	if err == nil && status.TaskID == "" {
		err = unexpected("no task_id")
	}
	return status.TaskID, err
}

func writeFields(w *multipart.Writer, q Request) error {
	for _, f := range q.Options {
		if err := w.WriteField(f.Name, f.Value); err != nil {
			return fmt.Errorf("docling: write the form: %w", err)
		}
	}
	if _, err := w.CreateFormFile("files", q.Name); err != nil {
		return fmt.Errorf("docling: write the form: %w", err)
	}
	return nil
}

// multi is a body of several parts, one of which is a file.
type multi struct {
	io.Reader
	io.Closer
}

// status returns a task's status and lets the server wait up to wait for its end. The engines local and rq of
// docling-serve always answer at once.
func (c *Client) status(ctx context.Context, task string, wait time.Duration) (Status, error) {
	ctx, cancel := bounded(ctx, pollTimeout)
	defer cancel()
	to := c.base.JoinPath("v1/status/poll", url.PathEscape(task))
	to.RawQuery = url.Values{"wait": {strconv.FormatFloat(wait.Seconds(), 'f', -1, 64)}}.Encode()
	answer, err := c.request(ctx, http.MethodGet, to, nil)
	if err != nil {
		return Status{}, err
	}
	defer func() { _ = answer.Body.Close() }() // read-only
	return readStatus(ctx, answer.Body)
}

func readStatus(ctx context.Context, body io.Reader) (s Status, err error) {
	raw, err := io.ReadAll(io.LimitReader(body, statusBytes))
	if err != nil {
		return s, transport(ctx, err)
	}
	if err := json.Unmarshal(raw, &s); err != nil || s.State == "" {
		return s, unexpected("no task status")
	}
	return s, nil
}

func unexpected(what string) *taskerr.Error {
	return down(taskerr.DependencyUnavailable,
		"DOCLING_URL must be the address of a docling-serve (API v1), without /v1",
		"what is at DOCLING_URL answers with %s", what)
}

// errSlow is the cause of the end of a request that took too long.
var errSlow = errors.New("the request took too long")

func bounded(ctx context.Context, most time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, most, down(taskerr.NetworkTimeout,
		"docling-serve is overloaded, or the network is slow",
		"docling-serve did not answer within %v: %w", most, errSlow))
}
