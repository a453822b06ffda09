package cli

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

const shortcutNeeds = config.Tenant | config.Queue | config.Store

func (p *program) newAskCommand() *cobra.Command {
	var out format
	var set string
	cmd := &cobra.Command{
		Use: "ask QUESTION", Short: "Ask a question about the tenant's documents, and wait for the answer",
		Long: `ask queues an agent task with the question as its prompt, and shows the answer with its citations. A
worker of the tenant must be running. Ctrl-C stops waiting, not the task.`,
		Example: `  async-worker ask "When are the cranes parked?" --set reports`,
		Args:    someArgs("a QUESTION"),
		RunE: p.action(func(cmd *cobra.Command, words []string) error {
			if strings.TrimSpace(strings.Join(words, " ")) == "" {
				return badUsage("give it words", "the QUESTION is empty")
			}
			m := &message{
				kind: string(task.Agent), prompt: strings.Join(words, " "), set: set,
				priority: string(task.PriorityNormal),
			}
			return p.shortcut(cmd, m, out)
		}),
	}
	cmd.Flags().StringVar(&set, "set", "", "only documents of this set")
	addOutput(cmd, &out)
	addSettings(cmd, shortcutNeeds)
	return cmd
}

func (p *program) newSummarizeCommand() *cobra.Command {
	var out format
	var style string
	var upload bool
	cmd := &cobra.Command{
		Use: "summarize DOCUMENT", Short: "Summarize one of the tenant's documents, and wait for the summary",
		Long: `summarize queues a summarize task for a document in the tenant's container and shows the summary. With
--upload it first uploads a local file, under a name of its own, so that no document is replaced. A worker of
the tenant must be running. Ctrl-C stops waiting, not the task.`,
		Example: `  async-worker summarize 2026/report.pdf
  async-worker summarize --upload report.pdf --style brief`,
		Args: oneArg("a DOCUMENT"),
		RunE: p.action(func(cmd *cobra.Command, args []string) error {
			m := &message{kind: string(task.Summarize), priority: string(task.PriorityNormal), apart: true}
			if style != "" {
				payload, err := json.Marshal(map[string]string{"style": style})
				if err != nil {
					return err
				}
				m.payload = string(payload)
			}
			if upload {
				m.uploads = args
			} else {
				m.filename = args[0]
			}
			return p.shortcut(cmd, m, out)
		}),
	}
	cmd.Flags().StringVar(&style, "style", "", "brief, detailed or bullets; default: brief")
	_ = cmd.RegisterFlagCompletionFunc("style", cobra.FixedCompletions([]string{"brief", "detailed", "bullets"},
		cobra.ShellCompDirectiveNoFileComp))
	cmd.Flags().BoolVar(&upload, "upload", false, "upload DOCUMENT, a local file, first")
	addOutput(cmd, &out)
	addSettings(cmd, shortcutNeeds|config.Blob)
	return cmd
}

// shortcut queues a message's task and follows it until it finishes.
func (p *program) shortcut(cmd *cobra.Command, m *message, out format) error {
	given := map[string]bool{
		"type": true, "payload": m.payload != "", "filename": m.filename != "", "prompt": m.prompt != "",
		"upload": len(m.uploads) > 0,
	}
	m.flagged = func(name string) bool { return given[name] }
	if err := m.check(nil); err != nil {
		return err
	}
	drafts, err := m.drafts(nil, p.stdin)
	if err != nil {
		return err
	}
	groups, err := p.withBlobs(cmd, shortcutNeeds, len(m.uploads) > 0)
	if err != nil {
		return err
	}
	return p.withTenant(cmd, groups, func(ctx context.Context, t *app.Tenant) error {
		letters, err := submissions(drafts, t.Config.ClientID)
		if err != nil {
			return err
		}
		if err := findBlob(ctx, t, m.filename, p.atLeast(blobLook)); err != nil {
			return err
		}
		for i, l := range letters {
			letters[i] = l.repeatable()
		}
		if err := p.enqueue(ctx, t, letters, out, true); err != nil || out == asJSON ||
			m.kind != string(task.Summarize) {
			return err // the follower has shown an answer
		}
		j, err := t.Store.Job(ctx, letters[0].task.ID)
		if err != nil {
			return &failure{"read the summary", nextStore, err}
		}
		return printResult(p.stdout, j)
	})
}
