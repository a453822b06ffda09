package retrieval

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/llm/offline"
	"github.com/seed-7227ef26/async-worker/internal/llm/openai"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

// server serves the vectors of a static model of English: a good model's stand-in, that installs as a package.
//
//go:embed embed.py
var server string

const (
	staticModel      = "wordllama"
	staticDimensions = 256
)

// Embedder is the offline provider, or the worker's client of a service with the static model. stop ends the service.
func Embedder(ctx context.Context, model, venv string) (e llm.Embedder, stop func() error, err error) {
	none := func() error { return nil }
	switch model {
	case "":
		e, err = offline.New(schema.DefaultDimensions)
		return e, none, err
	case staticModel:
	default:
		return nil, none, fmt.Errorf("there are no embeddings %q; use %s, or none for the offline provider", model, staticModel)
	}
	cmd := exec.CommandContext(ctx, filepath.Join(venv, "bin", "python3"), "-c", server)
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
		BaseURL: "http://127.0.0.1:" + strings.TrimSpace(port) + "/v1", Model: model, Dimensions: staticDimensions,
	})
	if err != nil {
		return nil, none, errors.Join(err, stop())
	}
	return e, stop, nil
}
