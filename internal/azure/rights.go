package azure

import (
	"fmt"
	"strings"
)

// Right is one kind of request to the storage account, and what permits it.
// Sources: https://learn.microsoft.com/rest/api/storageservices/authorize-with-azure-active-directory (permissions for
// data operations) and .../create-account-sas (account SAS permissions by operation).
type Right struct {
	Service Service
	Doing   string // what the worker uses it for
	Action  string // of Azure's roles, below Microsoft.Storage/storageAccounts/
	Data    bool   // it is a data action
	SAS     string // the letter of an account's shared access signature (sp); empty: none gives the right
	Without string // how the worker runs without it; empty: it doesn't
}

const createYourself = "or create them yourself: the worker then needs no such right"

// The rights of the worker. The custom role in packaging/azure holds exactly these.
var (
	QueueMetadata = Right{Queue, "read how many messages a queue has", "queueServices/queues/read", false, "r", ""}
	QueueCreate   = Right{Queue, "create a queue that is missing", "queueServices/queues/write", false, "c", createYourself}
	QueuePeek     = Right{
		Queue, "see whether messages wait, without taking one", "queueServices/queues/messages/read", true, "r", "",
	}
	QueueReceive = Right{Queue, "receive messages", "queueServices/queues/messages/process/action", true, "p", ""}
	QueueUpdate  = Right{
		Queue, "update messages: renew and release leases", "queueServices/queues/messages/write", true, "u", "",
	}
	QueueDelete = Right{Queue, "delete messages", "queueServices/queues/messages/delete", true, "p", ""}
	QueuePut    = Right{
		Queue, "put messages: dead letters, replays, what is enqueued", "queueServices/queues/messages/add/action",
		true, "a", "",
	}

	ContainerRead = Right{
		Blob, "look whether the container exists", "blobServices/containers/read", false, "r", "",
	}
	ContainerCreate = Right{
		Blob, "create the container when it is missing", "blobServices/containers/write", false, "c", createYourself,
	}
	BlobRead = Right{Blob, "read documents", "blobServices/containers/blobs/read", true, "r", ""}
	BlobList = Right{
		Blob, "list the blobs of a prefix, of a deck that is to be purged, and old messages that were too large for a queue",
		"blobServices/containers/blobs/read", true, "l",
		"everything but tasks with a prefix, those that purge, and the removal of old messages works without it",
	}
	BlobWrite = Right{
		Blob, "write and overwrite derived documents", "blobServices/containers/blobs/write", true, "w", "",
	}
	BlobDelete = Right{
		Blob, "delete derived documents, when a task asks to purge them, and old messages that were too large for a queue",
		"blobServices/containers/blobs/delete", true, "d", "everything but tasks that purge and the removal of old messages works without it",
	}
	BlobSign = Right{
		Blob, "sign addresses of exported files, and to upload to", "blobServices/generateUserDelegationKey/action", false, "",
		"or set EXPORT_URL_HOURS=0: results of exports name the blob then, and have no address",
	}
)

// Rights returns all rights.
func Rights() []Right {
	return []Right{
		QueueMetadata, QueueCreate, QueuePeek, QueueReceive, QueueUpdate, QueueDelete, QueuePut,
		ContainerRead, ContainerCreate, BlobRead, BlobList, BlobWrite, BlobDelete, BlobSign,
	}
}

// ActionName returns the full name of the right's action or data action.
func (r Right) ActionName() string { return "Microsoft.Storage/storageAccounts/" + r.Action }

// Names and built-in roles for Grant.
const (
	// RoleName is the name of the custom role in packaging/azure/async-worker-role.json.
	RoleName   = "async-worker tenant"
	customRole = "the custom role of packaging/azure/async-worker-role.json"
	sasRights  = "rwdlacup" // all letters of Rights
	// sasNeeds are the parameters of the account's one signature: it is for both services.
	sasNeeds = "ss=bq, srt=sco and sp=" + sasRights
)

var builtIn = map[Service]string{Queue: "Storage Queue Data Contributor", Blob: "Storage Blob Data Contributor"}

// Grant returns what is missing when a right on a queue or container is denied, and the command that grants it.
func (c *Credentials) Grant(r Right, on string) string {
	account := c.account
	if account == "" {
		account = "ACCOUNT"
	}
	switch {
	case c.token != nil && r == BlobSign: // an assignment on a container does not give it
		return fmt.Sprintf(`the identity lacks the action %s on the account: az role assignment create --assignee PRINCIPAL_ID `+
			`--role "Storage Blob Delegator" --scope "$(az storage account show --name %s --query id --output tsv)". `+
			`It works after up to ten minutes`, r.ActionName(), account)
	case c.token != nil:
		kind := "action"
		if r.Data {
			kind = "data action"
		}
		part := "queueServices/default/queues/" + on
		if r.Service == Blob {
			part = "blobServices/default/containers/" + on
		}
		return fmt.Sprintf(`the identity lacks the %s %s: az role assignment create --assignee PRINCIPAL_ID --role %q --scope `+
			`"$(az storage account show --name %s --query id --output tsv)/%s" (the role of packaging/azure/async-worker-role.json; %q has it too). It works after up to ten minutes`,
			kind, r.ActionName(), RoleName, account, part, builtIn[r.Service])
	case c.key != "":
		return "the account's key has every right: the account's firewall, or its setting allowSharedKeyAccess, " +
			"refuses it: " +
			"az storage account show --name " + account +
			` --query "{keys: allowSharedKeyAccess, network: networkRuleSet}"`
	case r == BlobSign:
		return "a shared access signature can't sign: use the account's key; or an identity (set AZURE_STORAGE_ACCOUNT, " +
			"and remove AZURE_STORAGE_CONNECTION_STRING)"
	default:
		return fmt.Sprintf("the shared access signature lacks %s, or is not for this service or type of resource%s: "+
			"az storage account generate-sas --account-name %s "+
			"--services bq --resource-types sco --permissions %s --https-only --expiry WHEN", r.SAS, c.has(), account,
			sasRights)
	}
}

// has returns the rights of the signature, in words.
func (c *Credentials) has() string {
	sp := strings.Map(lettersOnly, c.sas.Get("sp"))
	if sp == "" {
		return ""
	}
	return " (it has sp=" + sp + ")"
}

func lettersOnly(r rune) rune {
	if r >= 'a' && r <= 'z' {
		return r
	}
	return -1
}
