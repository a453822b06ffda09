package azure

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/seed-7227ef26/async-worker/internal/blob"
)

// List implements blob.Bucket: a request for each 5,000 blobs. Folders of an account with a hierarchical namespace,
// which it lists as empty blobs, are left out.
func (b *Bucket) List(ctx context.Context, prefix string) iter.Seq2[blob.Properties, error] {
	return func(yield func(blob.Properties, error) bool) {
		pages := b.client.NewListBlobsFlatPager(&container.ListBlobsFlatOptions{
			Prefix: &prefix, Include: container.ListBlobsInclude{Metadata: true},
		})
		for pages.More() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				yield(blob.Properties{}, b.explain(fmt.Sprintf("list the blobs that begin with %q in", prefix), err))
				return
			}
			for _, item := range page.Segment.BlobItems {
				if item == nil || item.Name == nil || item.Properties == nil || isFolder(item) {
					continue
				}
				p := blob.Properties{
					Name: *item.Name, Size: value(item.Properties.ContentLength), ETag: quoted(value(item.Properties.ETag)),
					ModifiedAt: value(item.Properties.LastModified),
				}
				if !yield(p, nil) {
					return
				}
			}
		}
	}
}

func isFolder(item *container.BlobItem) bool {
	for name, v := range item.Metadata {
		if strings.EqualFold(name, "hdi_isfolder") {
			return strings.EqualFold(value(v), "true")
		}
	}
	return false
}

// quoted is an ETag as headers have it: lists of Azure Storage have it without its quotes.
func quoted(tag azcore.ETag) string {
	if s := string(tag); s == "" || strings.HasSuffix(s, `"`) {
		return s
	}
	return `"` + string(tag) + `"`
}
