package app

import (
	"fmt"

	storage "github.com/seed-7227ef26/async-worker/internal/azure"
	"github.com/seed-7227ef26/async-worker/internal/config"
)

// grant says how to give the worker a right on a queue or container.
type grant func(r storage.Right, on string) string

// always is g, whatever the settings.
func always(g grant) func(config.Config) grant { return func(config.Config) grant { return g } }

func grantOfBlobs(cfg config.Config) grant {
	if cfg.BlobBackend == config.BlobDir {
		return func(storage.Right, string) string { return "give its user access to the folder BLOB_DIR" }
	}
	return grantOfAzure(cfg)
}

func grantOfAzure(cfg config.Config) grant {
	creds, err := (&Tenant{Config: cfg}).credentials()
	if err != nil {
		return func(storage.Right, string) string { return err.Error() }
	}
	return creds.Grant
}

// grantOfNATS names the subjects that a right needs. The error names the one that is denied.
func grantOfNATS(storage.Right, string) string {
	return "give its user the permissions that docs/nats.md lists"
}

// grantOfPostgres is for rights on functions. The error names the one that is denied.
func grantOfPostgres(storage.Right, string) string {
	return "run async-worker migrate as the owner of the database, which grants the functions aw_queue_* to async_worker " +
		"and service_role, and check that the key or login has one of these roles and is this tenant's"
}

// grantOfPGMQ is for rights on pgmq's functions and on the table of one queue.
func grantOfPGMQ(_ storage.Right, on string) string {
	return fmt.Sprintf("grant usage on schema pgmq, execute on all its functions, select on pgmq.meta, and all on table "+
		"pgmq.%q to the login of DATABASE_URL", "q_"+on)
}
