package main

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// countedBucket counts a read of a blob's body as a call, too.
type countedBucket struct {
	c         *counter
	b         blob.Bucket
	cancelPut string
	cancel    store.Store
}

func (w countedBucket) Ensure(ctx context.Context) error {
	return call0(w.c, "blob.Ensure", func() error { return w.b.Ensure(ctx) })
}

func (w countedBucket) Stat(ctx context.Context, name string) (blob.Properties, error) {
	return call(w.c, "blob.Stat", func() (blob.Properties, error) { return w.b.Stat(ctx, name) })
}

func (w countedBucket) Open(ctx context.Context, name string) (p blob.Properties, body io.ReadCloser, err error) {
	body, err = call(w.c, "blob.Open", func() (io.ReadCloser, error) {
		p, body, err = w.b.Open(ctx, name)
		return body, err
	})
	if err != nil {
		return p, nil, err
	}
	return p, countedBody{body, w.c}, nil
}

func (w countedBucket) OpenChanged(
	ctx context.Context, name, etag string,
) (p blob.Properties, body io.ReadCloser, err error) {
	body, err = call(w.c, "blob.OpenChanged", func() (io.ReadCloser, error) {
		p, body, err = w.b.OpenChanged(ctx, name, etag)
		return body, err
	})
	if err != nil {
		return p, nil, err
	}
	return p, countedBody{body, w.c}, nil
}

func (w countedBucket) Put(
	ctx context.Context, name string, body io.Reader, contentType string,
) (blob.Properties, error) {
	return call(w.c, "blob.Put", func() (blob.Properties, error) {
		p, err := w.b.Put(ctx, name, body, contentType)
		if w.cancelPut == "" {
			return p, err
		}
		// Another process, which isn't counted, requests it. An error means that the task is finished already.
		_, _ = w.cancel.RequestCancel(ctx, w.cancelPut, "prove")
		<-ctx.Done()
		return p, context.Cause(ctx)
	})
}

func (w countedBucket) PutNew(
	ctx context.Context, name string, body io.Reader, contentType string,
) (blob.Properties, error) {
	return call(w.c, "blob.PutNew", func() (blob.Properties, error) { return w.b.PutNew(ctx, name, body, contentType) })
}

func (w countedBucket) Remove(ctx context.Context, name string) error {
	return call0(w.c, "blob.Remove", func() error { return w.b.Remove(ctx, name) })
}

type countedBody struct {
	io.ReadCloser
	c *counter
}

func (b countedBody) Read(p []byte) (n int, err error) {
	err = call0(b.c, "blob.Read", func() error {
		n, err = b.ReadCloser.Read(p)
		return err
	})
	return n, err
}

// countedEmbedder is also where tasks fail, and where their cancel is requested.
type countedEmbedder struct {
	e llm.Embedder
	c *counter
	options
	cancel store.Store
}

func (w *countedEmbedder) Model() string { return w.e.Model() }

func (w *countedEmbedder) Dimensions() int { return w.e.Dimensions() }

func (w *countedEmbedder) Embed(ctx context.Context, inputs []string) (llm.Embeddings, error) {
	return call(w.c, "llm.Embed", func() (llm.Embeddings, error) {
		if w.fails() {
			return llm.Embeddings{}, taskerr.Errorf(taskerr.ModelOverloaded,
				"the model is overloaded on purpose")
		}
		if w.cancelTask != "" {
			// Another process, which isn't counted, requests it. An error means that the task is finished already.
			_, _ = w.cancel.RequestCancel(ctx, w.cancelTask, "prove")
			<-ctx.Done()
			return llm.Embeddings{}, context.Cause(ctx)
		}
		select {
		case <-time.After(w.modelWait):
		case <-ctx.Done():
			return llm.Embeddings{}, context.Cause(ctx)
		}
		return w.e.Embed(ctx, inputs)
	})
}

// fails reports whether this call is one of those that fail; a file counts them over all processes.
func (w *countedEmbedder) fails() bool {
	if w.modelFails == 0 {
		return false
	}
	info, err := os.Stat(w.modelFile)
	if err == nil && w.modelFails > 0 && info.Size() >= int64(w.modelFails) {
		return false
	}
	f, err := os.OpenFile(w.modelFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return true
	}
	_, _ = f.WriteString(".")
	_ = f.Close()
	return true
}

var (
	_ blob.Bucket  = countedBucket{}
	_ llm.Embedder = (*countedEmbedder)(nil)
)
