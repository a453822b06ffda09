package azure_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/seed-7227ef26/async-worker/internal/azure"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

func packaged(t *testing.T, elements ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(append([]string{"..", ".."}, elements...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestRoleIsWhatTheWorkerNeeds: the custom role has exactly the rights of Rights, its condition covers each data
// action, and docs/azure.md names each.
func TestRoleIsWhatTheWorkerNeeds(t *testing.T) {
	t.Parallel()
	var role struct {
		Name, Description                                string
		IsCustom                                         bool
		Actions, NotActions, DataActions, NotDataActions []string
		AssignableScopes                                 []string
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(packaged(t, "packaging", "azure", "async-worker-role.json"))))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&role); err != nil {
		t.Fatal(err)
	}
	if role.Name != azure.RoleName || !role.IsCustom || len(role.NotActions)+len(role.NotDataActions) != 0 ||
		len(role.AssignableScopes) != 1 || !strings.HasPrefix(role.AssignableScopes[0], "/subscriptions/") {
		t.Errorf("the role is %+v", role)
	}
	var actions, dataActions []string
	page, condition := packaged(t, "docs", "azure.md"), packaged(t, "packaging", "azure", "condition.txt")
	for _, r := range azure.Rights() {
		if r.Data {
			dataActions = append(dataActions, r.ActionName())
			if !strings.Contains(condition, "!(ActionMatches{'"+r.ActionName()+"'})") {
				t.Errorf("the condition leaves out %s", r.ActionName())
			}
		} else {
			actions = append(actions, r.ActionName())
		}
		if row := fmt.Sprintf("| %s | `%s` | %s |\n", r.Doing, r.Action, cmp.Or(r.SAS, "none")); !strings.Contains(page, row) {
			t.Errorf("docs/azure.md lacks this row:\n%s", row)
		}
	}
	slices.Sort(dataActions)
	dataActions = slices.Compact(dataActions) // one may be needed for two things
	same := func(a, b []string) bool { slices.Sort(a); slices.Sort(b); return slices.Equal(a, b) }
	if !same(actions, role.Actions) || !same(dataActions, role.DataActions) {
		t.Errorf("the role must have the actions\n%q\nand the data actions\n%q", actions, dataActions)
	}
	if strings.Count(condition, "(") != strings.Count(condition, ")") ||
		strings.Count(condition, "ActionMatches") != len(dataActions) {
		t.Error("the condition's parentheses or actions don't match")
	}
	names := task.QueueNames("TENANT")
	for _, name := range []string{names.High, names.Normal, names.Low, names.DeadLetter, "TENANT-documents"} {
		if !strings.Contains(condition, "StringEquals '"+name+"'\n") {
			t.Errorf("the condition leaves out %s", name)
		}
	}
	if !strings.Contains(page, `--role "`+azure.RoleName+`"`) {
		t.Error("docs/azure.md assigns another role")
	}
}

// TestGrant: each kind of credentials gets the command that fits it.
func TestGrant(t *testing.T) {
	t.Parallel()
	identity, err := azure.FromIdentity("acme")
	if err != nil {
		t.Fatal(err)
	}
	signature, err := azure.FromConnectionString("AccountName=acme;SharedAccessSignature=sv=2024&sp=rw&sig=" + secret)
	if err != nil {
		t.Fatal(err)
	}
	key, err := azure.FromConnectionString("AccountName=acme;AccountKey=" + secret)
	if err != nil {
		t.Fatal(err)
	}
	for creds, says := range map[*azure.Credentials][]string{
		identity: {
			"queues/messages/write", "az role assignment create", `--role "async-worker tenant"`,
			"/queueServices/default/queues/a-tasks",
		},
		signature: {
			"lacks u", "it has sp=rw", "az storage account generate-sas --account-name acme",
			"--permissions rwdlacup",
		},
		key: {"az storage account show --name acme"},
	} {
		grant := creds.Grant(azure.QueueUpdate, "a-tasks")
		for _, s := range says {
			if !strings.Contains(grant, s) {
				t.Errorf("%s: %q should say %q", creds, grant, s)
			}
		}
		if strings.Contains(grant, "c2VjcmV0") {
			t.Errorf("%s: it prints the secret", creds)
		}
	}
	for creds, says := range map[*azure.Credentials]string{
		identity: `generateUserDelegationKey/action on the account: az role assignment create --assignee PRINCIPAL_ID ` +
			`--role "Storage Blob Delegator" --scope "$(az storage account show --name acme --query id --output tsv)"`,
		signature: "can't sign: use the account's key; or an identity (set AZURE_STORAGE_ACCOUNT, and remove " +
			"AZURE_STORAGE_CONNECTION_STRING)",
	} {
		if grant := creds.Grant(azure.BlobSign, "a-documents"); !strings.Contains(grant, says) {
			t.Errorf("%s: %q should say %q", creds, grant, says)
		}
	}
	if grant := identity.Grant(azure.BlobRead, "a-documents"); !strings.Contains(grant,
		"/blobServices/default/containers/a-documents") {
		t.Errorf("got %q", grant)
	}
}

// The connection string is stronger than AZURE_STORAGE_ACCOUNT: to set that alone changes nothing.
func TestAccountWithoutKeys(t *testing.T) {
	t.Parallel()
	key, err := azure.FromConnectionString("AccountName=acme;AccountKey=" + secret)
	if err != nil {
		t.Fatal(err)
	}
	denied := key.Explain(azure.Queue, "call", &azcore.ResponseError{StatusCode: 403, ErrorCode: "KeyBasedAuthenticationNotPermitted"})
	if !strings.Contains(denied.Error(), "and remove AZURE_STORAGE_CONNECTION_STRING") {
		t.Error(denied)
	}
}

// TestHintNamesEachRight: whichever service denies a right, the hint names all rights that the worker needs: a signature
// is for both services.
func TestHintNamesEachRight(t *testing.T) {
	t.Parallel()
	identity, err := azure.FromIdentity("acme")
	if err != nil {
		t.Fatal(err)
	}
	signature, err := azure.FromConnectionString("AccountName=acme;SharedAccessSignature=sv=2024&sp=rp&sig=" + secret)
	if err != nil {
		t.Fatal(err)
	}
	hint := func(c *azure.Credentials, s azure.Service, code string) string {
		return c.Explain(s, "call", &azcore.ResponseError{StatusCode: 403, ErrorCode: code}).Error()
	}
	below := strings.NewReplacer("queueServices/queues/messages/", "messages/", "queueServices/", "",
		"blobServices/containers/blobs/", "blobs/", "blobServices/", "")
	apart := strings.NewReplacer(",", " ", "(", " ", ";", " ")
	for _, r := range azure.Rights() {
		role := apart.Replace(hint(identity, r.Service, "AuthorizationPermissionMismatch"))
		if action := below.Replace(r.Action); !slices.Contains(strings.Fields(role), action) {
			t.Errorf("to %s: %q should name %s", r.Doing, role, action)
		}
	}
	for _, s := range []azure.Service{azure.Queue, azure.Blob} {
		for _, code := range []string{"AuthorizationPermissionMismatch", "AuthorizationServiceMismatch"} {
			said := hint(signature, s, code)
			_, letters, _ := strings.Cut(said, "ss=bq, srt=sco and sp=")
			letters, _, _ = strings.Cut(letters, " ")
			for _, r := range azure.Rights() {
				if letters == "" || !strings.Contains(letters, r.SAS) {
					t.Errorf("to %s: %q should name sp=%s", r.Doing, said, r.SAS)
				}
			}
		}
	}
}
