package azure

import (
	"context"
	"errors"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/seed-7227ef26/async-worker/internal/blob"
)

// Create creates the container unless it exists. Unlike Ensure it fails without the right, even if the container
// exists.
func (b *Bucket) Create(ctx context.Context) error {
	_, err := b.client.Create(ctx, nil)
	if answer, ok := errors.AsType[*azcore.ResponseError](err); ok && answer.ErrorCode == "ContainerAlreadyExists" {
		return nil
	}
	return b.explain("create the container", err)
}

// Exists reads the container's properties. It returns ErrNotFound if there is none.
func (b *Bucket) Exists(ctx context.Context) error {
	_, err := b.client.GetProperties(ctx, nil)
	if answer, ok := errors.AsType[*azcore.ResponseError](err); ok && answer.StatusCode == http.StatusNotFound {
		return blob.ErrNotFound
	}
	return b.explain("look at the container", err)
}
