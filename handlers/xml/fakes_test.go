package xml_test

import (
	"context"
	"io"

	"github.com/seed-7227ef26/async-worker/handlers/xml"
	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// failing is a bucket that takes nothing.
type failing struct{ blob.Bucket }

func (failing) Put(context.Context, string, io.Reader, string) (blob.Properties, error) {
	return blob.Properties{}, taskerr.Errorf(taskerr.TransientStorage, "the storage account is busy")
}

// nothing is a gateway that is never called.
type nothing struct{ xml.Gateway }
