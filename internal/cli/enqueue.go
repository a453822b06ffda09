package cli

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/queue"
)

// enqueued is the JSON of enqueue for each task.
type enqueued struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Created bool   `json:"created"` // false: the job existed already
	Status  string `json:"status"`
	Blob    string `json:"blob,omitempty"` // the uploaded blob
}

func (p *program) newEnqueueCommand() *cobra.Command {
	var out format
	var m message
	watch := false
	cmd := &cobra.Command{
		Use:   "enqueue [FILE...]",
		Short: "Put tasks on the tenant's queue, from message files or from flags",
		Long: `enqueue records each task as a pending job and sends its message. A task comes from a FILE with a JSON
message (-: standard input), from flags, or, with --upload, from local documents: each is uploaded to the
tenant's container first, in place of a blob of the same name, and becomes its own task. enqueue prints the ids,
one per line.

The same id with the same payload is the same task: it is done again only with --force.`,
		Example: `  async-worker enqueue message.json
  async-worker enqueue --upload report.pdf --upload data.csv --document-set reports --watch
  async-worker enqueue --type ingest --filename 2026/report.pdf --document-set reports --id report-7
  async-worker enqueue --source-uri https://example.com/report.pdf --document-set reports
  async-worker enqueue --prefix 2026/ --document-set reports
  async-worker enqueue --delete --filename 2026/report.pdf --document-set reports
  async-worker enqueue --prompt "When are the cranes parked?" --document-set reports --watch
  async-worker enqueue --type summarize --payload '{"filename": "report.pdf", "style": "brief"}'`,
		RunE: p.action(func(cmd *cobra.Command, files []string) error {
			m.flagged = cmd.Flags().Changed
			if err := m.check(files); err != nil {
				return err
			}
			drafts, err := m.drafts(files, p.stdin)
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
				return p.enqueue(ctx, t, letters, out, watch)
			})
		}),
	}
	m.addFlags(cmd)
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "follow the jobs to their end; exit with 1 unless all succeed")
	addOutput(cmd, &out)
	addSettings(cmd, config.Tenant|config.Queue|config.Store|config.Blob)
	return cmd
}

func (p *program) enqueue(ctx context.Context, t *app.Tenant, letters []submission, out format, watch bool) error {
	p.warnUnread(letters)
	var sent []enqueued
	var ids []string
	var failed error
	for _, l := range letters {
		var one enqueued
		if one, failed = p.send(ctx, t, l); failed != nil {
			break
		}
		sent = append(sent, one)
		ids = append(ids, one.ID)
		if out != asJSON {
			fmt.Fprintln(p.stdout, one.ID)
		}
	}
	if out == asJSON && len(sent) > 0 { // also what was sent before a failure: a retry would do it twice
		if err := printJSON(p.stdout, sent); err != nil {
			return errors.Join(failed, err)
		}
	}
	if !watch || failed != nil {
		return failed
	}
	f, d := newFollower(t.Store, t.NewFeed()), p.newDisplay(out)
	f.untaken = p.untaken(d)
	return f.all(ctx, ids, d)
}

func (p *program) send(ctx context.Context, t *app.Tenant, l submission) (enqueued, error) {
	done := enqueued{ID: l.task.ID, Type: string(l.task.Type)}
	if l.upload != "" {
		if err := p.upload(ctx, t, l.upload, l.blob); err != nil {
			return done, err
		}
		done.Blob = l.blob
		fmt.Fprintln(p.stderr, printable(fmt.Sprintf("uploaded %s as %s", l.upload, l.blob)))
	}
	answer, err := submit(ctx, t, l.task)
	if err != nil {
		const repeat = "to repeat the same task: "
		if ctx.Err() != nil {
			return done, &unsureError{"the task may be in the queue already; " + repeat + l.again(), ctx.Err()}
		}
		next := nextService(t, err) + "; " + repeat + l.again()
		return done, &failure{"enqueue", strings.TrimPrefix(next, "; "), err}
	}
	done.Created, done.Status = answer.Created, answer.State
	if !answer.Created {
		fmt.Fprintf(p.stderr, "%s already exists and is %s\n", done.ID, answer.State)
		if job.State(answer.State) == job.Failed {
			printWrapped(p.stderr, "  what to do: ",
				"the task is not repeated; to repeat it, give another --id or --force")
		}
	}
	return done, nil
}

// submit creates the queues only when one is missing: the right to send does not include the right to create.
func submit(ctx context.Context, t *app.Tenant, what task.Task) (store.SubmitAnswer, error) {
	answer, err := t.Enqueue(ctx, what)
	if !errors.Is(err, queue.ErrNotFound) {
		return answer, err
	}
	created := answer.Created
	if err := t.EnsureQueues(ctx); err != nil {
		return answer, err
	}
	answer, err = t.Enqueue(ctx, what)
	answer.Created = answer.Created || created
	return answer, err
}

// upload makes the container when it is missing, but no folder for a worker that is another user: it would be this user's.
func (p *program) upload(ctx context.Context, t *app.Tenant, path, name string) error {
	f, err := os.Open(path)
	if err != nil {
		return fileError("upload", path, err)
	}
	defer f.Close()
	if p.tenant == "" || t.Config.BlobBackend != config.BlobDir {
		if err := t.Bucket.Ensure(ctx); err != nil {
			return &failure{"create the container " + t.ContainerName(), t.NextContainer(), err}
		}
	}
	contentType := mime.TypeByExtension(filepath.Ext(path))
	if contentType == "" {
		contentType = "application/octet-stream"
	}
	if _, err := t.Bucket.Put(ctx, name, f, contentType); err != nil {
		return &failure{"upload " + path, t.NextContainer(), err}
	}
	return nil
}
