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

// hasBlobs reports whether the settings name a container, for a command that needs the groups and can do without.
func (p *program) hasBlobs(cmd *cobra.Command, groups config.Group) (bool, error) {
	if err := p.resolveTenant(cmd, groups); err != nil {
		return false, err
	}
	_, err := config.Load(p.sources(cmd), config.Tenant|config.Blob)
	return err == nil, nil
}

// findBlob refuses a document that the container does not have: its task would become a dead letter. A container that
// can't be asked, or does not answer, is left to the worker, and so is no name.
func findBlob(ctx context.Context, t *app.Tenant, name string) error {
	if name == "" || t.Bucket == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, blobLook)
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
