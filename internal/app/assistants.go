package app

import (
	"context"
	"io"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers/agent"
	"github.com/seed-7227ef26/async-worker/internal/mcp"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// assistants serves the agent's read-only tools to other programs.
func (t *Tenant) assistants() *mcp.Server { return mcp.New(Version, t.log) }

// reader reads the tenant's documents in a store.
func (t *Tenant) reader(s store.Store, limit time.Duration) agent.Reader {
	return agent.NewReader(agent.Deps{Store: s, Find: t.Find, StepTimeout: limit})
}

// ServeTools serves the agent's read-only tools to one program by MCP, until it closes in or ctx is done. It needs
// config.Store and config.Models.
func (t *Tenant) ServeTools(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	return t.assistants().Run(ctx, t.reader(t.Store, t.Config.StepTimeout), in, out)
}
