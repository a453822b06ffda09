package app

import (
	"context"
	"io"

	"github.com/seed-7227ef26/async-worker/handlers/agent"
	"github.com/seed-7227ef26/async-worker/internal/mcp"
)

// assistants serves the agent's read-only tools to other programs.
func (t *Tenant) assistants() *mcp.Server { return mcp.New(Version, t.log) }

// ServeTools serves the agent's read-only tools to one program by MCP, until it closes in or ctx is done. It needs
// config.Store and config.Models.
func (t *Tenant) ServeTools(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	reader := agent.NewReader(agent.Deps{Store: t.Store, Find: t.Find, StepTimeout: t.Config.StepTimeout})
	return t.assistants().Run(ctx, reader, in, out)
}
