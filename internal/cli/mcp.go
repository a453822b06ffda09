package cli

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/config"
)

func (p *program) newMCPCommand() *cobra.Command {
	const groups = storeOnly | config.Models
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Give an assistant the agent's tools to read the tenant's documents (MCP over stdio)",
		Long: `mcp serves the Model Context Protocol on standard input and output, for an assistant that starts it:
search, read_chunks, outline, grep and list_documents. They only read, and only this tenant's documents. It ends
when the assistant closes its input. A worker serves the same at /mcp of its HTTP API, to callers with a token.`,
		Example: `  claude mcp add documents -- async-worker mcp --tenant southhaven
  npx @modelcontextprotocol/inspector --cli async-worker mcp --tenant southhaven --method tools/list`,
		Args: noArgs,
		RunE: p.action(func(cmd *cobra.Command, _ []string) error {
			return p.withTenant(cmd, groups, func(ctx context.Context, t *app.Tenant) error {
				in, ok := p.stdin.(io.ReadCloser)
				if !ok {
					in = io.NopCloser(p.stdin)
				}
				err := t.ServeTools(ctx, in, unclosed{p.stdout})
				if !errors.Is(err, io.EOF) && ctx.Err() == nil {
					return err
				}
				return nil // the assistant has ended, or a signal has come
			})
		}),
	}
	addSettings(cmd, groups)
	return cmd
}

// unclosed is a writer that stays open.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }
