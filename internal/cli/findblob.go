package cli

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/config"
)

// blobLook is how long a blob is looked for: the worker finds out, too.
const blobLook = 2 * time.Second

// withBlobs adds the container's settings to the groups that a command needs. An upload needs a container; a message that
// is too large for the queue goes through it, and others need none: without uploads it is left out if the settings name none.
func (p *program) withBlobs(cmd *cobra.Command, groups config.Group, uploads bool) (config.Group, error) {
	if !uploads {
		if err := p.resolveTenant(cmd, groups); err != nil {
			return 0, err
		}
		cfg, err := config.Load(p.sources(cmd), config.Tenant|config.Blob)
		if err != nil || app.ContainerFault(cfg) != nil {
			return groups, nil //nolint:nilerr // the command can do without
		}
	}
	return groups | config.Blob, nil
}

// findBlob refuses a document that the container does not have: its task would become a dead letter. A container that
// can't be asked, or does not answer, is left to the worker, and so is no name.
func findBlob(ctx context.Context, t *app.Tenant, name string, limit time.Duration) error {
	if name == "" || t.Bucket == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if _, err := t.Bucket.Stat(ctx, name); errors.Is(err, blob.ErrNotFound) {
		return &failure{
			"look for " + strconv.Quote(name),
			"check the name; --upload takes a local file; to send the task before its document: " +
				"async-worker enqueue --type summarize --filename " + strings.ReplaceAll(shellQuoted(name), " ", noBreak),
			&notFoundError{errors.New("the container " + t.ContainerName() + " has no such document")},
		}
	}
	return nil
}
