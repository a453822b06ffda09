package retrieval

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/llm/offline"
	"github.com/seed-7227ef26/async-worker/internal/llm/openai"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

// server serves the vectors of a model that installs as a package: a stand-in for a good one.
//
//go:embed embed.py
var server string

// models are the dimensions of the models that server has.
var models = map[string]int{
	"wordllama": 256, // static, of English
	"use":       512, // the multilingual Universal Sentence Encoder, version 3, of 16 languages
}

// Embedder is the offline provider, or the worker's client of a service with one of models. stop ends the service.
func Embedder(ctx context.Context, model, venv string) (e llm.Embedder, stop func() error, err error) {
	none := func() error { return nil }
	if model == "" {
		e, err = offline.New(schema.DefaultDimensions)
		return e, none, err
	}
	dimensions, ok := models[model]
	if !ok {
		return nil, none, fmt.Errorf("there are no embeddings %q; take one of %s, or none for the offline provider",
			model, strings.Join(slices.Sorted(maps.Keys(models)), ", "))
	}
	cmd := exec.CommandContext(ctx, filepath.Join(venv, "bin", "python3"), "-c", server, model)
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		return nil, none, fmt.Errorf("start the embeddings of %s: %w", model, err)
	}
	stop = func() error { return errors.Join(in.Close(), cmd.Wait()) }
	port, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, none, errors.Join(fmt.Errorf("start the embeddings of %s: %w", model, err), stop())
	}
	e, err = openai.New(openai.Config{
		BaseURL: "http://127.0.0.1:" + strings.TrimSpace(port) + "/v1", Model: model, Dimensions: dimensions,
	})
	if err != nil {
		return nil, none, errors.Join(err, stop())
	}
	return e, stop, nil
}
