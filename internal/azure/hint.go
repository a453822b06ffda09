package azure

import (
	"fmt"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/seed-7227ef26/async-worker/internal/azure/sas"
)

// allowedSkew is the largest clock skew that is not reported as the likely cause. Azure rejects signatures that are
// more than 15 minutes off.
const allowedSkew = 5 * time.Minute

// roles are what gives an identity the Rights. The built-in role "Storage Queue Data Message Processor" can't update a
// message, as the renewal of a lease does.
var roles = map[Service]string{
	Queue: `a role with the data actions messages/read, messages/process/action, messages/write, messages/delete and messages/add/action ` +
		`and the action queues/read (of Microsoft.Storage/storageAccounts/queueServices/queues; queues/write too when it is to create queues) ` +
		`on the account or its queues: "Storage Queue Data Contributor", or ` + customRole +
		`; "Storage Queue Data Message Processor" is not enough, it can't renew a message`,
	Blob: `a role with the data actions blobs/read, blobs/write and blobs/delete and the action containers/read ` +
		`(of Microsoft.Storage/storageAccounts/blobServices/containers; containers/write too when it is to create the container) ` +
		`on the container: "Storage Blob Data Contributor", or ` + customRole +
		`; and, to sign addresses, the action generateUserDelegationKey/action on the account: "Storage Blob Delegator"`,
}

// explainAnswer explains a request that Azure answered with an error.
func (c *Credentials) explainAnswer(s Service, answer *azcore.ResponseError) *Problem {
	p := &Problem{Kind: Outage, Status: answer.StatusCode, Code: answer.ErrorCode}
	if answer.RawResponse != nil {
		p.RequestID = answer.RawResponse.Header.Get("x-ms-request-id")
	}
	switch p.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		p.Kind, p.Hint = c.refused(s, answer)
	case http.StatusNotFound:
		p.Kind = Setting
		p.Hint = fmt.Sprintf("check the names in the settings, and that %s serves the right account", c.Host(s))
	case http.StatusRequestTimeout, http.StatusTooManyRequests: // Outage
	default:
		if p.Status < 500 {
			p.Kind = Setting
		}
	}
	switch p.Code {
	case "InvalidResourceName", "OutOfRangeInput":
		p.Hint = "the name of the " + map[Service]string{Queue: "queue", Blob: "container or blob"}[s] +
			" is not one that Azure accepts; check CLIENT_ID and AZURE_STORAGE_CONTAINER"
	case "ContainerNotFound":
		p.Hint = fmt.Sprintf("the container is not there: create it again, or restore it; else check "+
			"AZURE_STORAGE_CONTAINER, and that %s serves the right account", c.Host(s))
	case "AccountIsDisabled":
		p.Kind, p.Hint = Permission, "the storage account is disabled"
	case "QueueBeingDeleted", "ContainerBeingDeleted":
		p.Kind, p.Hint = Outage, "it was just deleted; Azure needs up to a minute until it can be created again"
	}
	return p
}

// refused returns the likely reason for a 401 or 403.
func (c *Credentials) refused(s Service, answer *azcore.ResponseError) (Kind, string) {
	switch answer.ErrorCode {
	case "AuthorizationFailure", "AuthorizationSourceIPMismatch":
		return Permission, "the account's firewall or network rules reject this machine's address, or it lacks a " +
			"private endpoint; if they don't, " + c.grant(s)
	case "AuthorizationPermissionMismatch":
		return Permission, c.grant(s)
	case "AuthorizationProtocolMismatch":
		return Permission, "the shared access signature allows https only; use the https address"
	case "AuthorizationServiceMismatch", "AuthorizationResourceTypeMismatch":
		return Permission, fmt.Sprintf("the shared access signature is not for the %s service or for this type of "+
			"resource; issue one with "+sasNeeds, s)
	case "KeyBasedAuthenticationNotPermitted":
		return Permission, "the account allows no shared keys; use AZURE_STORAGE_ACCOUNT with a managed identity, and " +
			"remove AZURE_STORAGE_CONNECTION_STRING"
	}
	if skew, ok := skewOf(answer.RawResponse, time.Now()); ok && skew.Abs() > allowedSkew {
		way := "behind"
		if skew > 0 {
			way = "ahead of"
		}
		return Clock, fmt.Sprintf("this machine's clock is %s %s Azure's; switch time synchronization on "+
			"(timedatectl set-ntp true)", skew.Abs().Round(time.Second), way)
	}
	switch {
	case c.token != nil:
		return Permission, "the token was not accepted; " + c.grant(s)
	case c.key != "":
		return Permission, "the signature was not accepted: the account's key was rotated or belongs to another " +
			"account (copy it again), or this machine's clock is wrong"
	default:
		if end, ok := sas.End(c.sas); ok && time.Now().After(end) {
			return Permission, "the shared access signature expired at " + end.Format(time.RFC3339) +
				"; issue a new one"
		}
		return Permission, "the shared access signature was not accepted: it is not yet or no longer valid, its key " +
			"was rotated, or this machine's clock is wrong"
	}
}

// grant returns which right to grant.
func (c *Credentials) grant(s Service) string {
	if c.sas != nil {
		return "the shared access signature lacks a right: issue one with " + sasNeeds + c.has()
	}
	return "the worker is " + c.how + "; give it " + roles[s] + ". A new role takes up to ten minutes to work"
}

// skewOf returns local time minus the response's Date; positive: the local clock is ahead.
func skewOf(resp *http.Response, now time.Time) (time.Duration, bool) {
	if resp == nil {
		return 0, false
	}
	date, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		return 0, false
	}
	return now.Sub(date), true
}
