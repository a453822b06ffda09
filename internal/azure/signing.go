package azure

import (
	"context"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/service"
)

// BlobSigner signs addresses of blobs. Source:
// https://learn.microsoft.com/rest/api/storageservices/create-service-sas
type BlobSigner func(sas.BlobSignatureValues) (sas.QueryParameters, error)

// skew is how far clocks of Azure and of this machine may differ.
const skew = 5 * time.Minute

// BlobSigner returns a signer, and until when its signatures hold at most; the zero time: for ever. With an identity
// it asks Azure for a key that holds for d. It returns a nil signer if the credentials are a signature themselves, which
// can't sign.
func (c *Credentials) BlobSigner(
	ctx context.Context, options azcore.ClientOptions, d time.Duration,
) (BlobSigner, time.Time, error) {
	switch {
	case c.key != "":
		key, err := service.NewSharedKeyCredential(c.account, c.key)
		if err != nil {
			return nil, time.Time{}, fmt.Errorf("the account's key: %w", err)
		}
		return func(v sas.BlobSignatureValues) (sas.QueryParameters, error) {
			return v.SignWithSharedKey(key)
		}, time.Time{}, nil
	case c.token == nil:
		return nil, time.Time{}, nil
	}
	client, err := service.NewClient(c.endpoints[Blob]+"/", c.token, &service.ClientOptions{ClientOptions: options})
	if err != nil {
		return nil, time.Time{}, err
	}
	now := time.Now().UTC()
	start, end := now.Add(-skew).Format(sas.TimeFormat), now.Add(d)
	expiry := end.Format(sas.TimeFormat)
	key, err := client.GetUserDelegationCredential(ctx, service.KeyInfo{Start: &start, Expiry: &expiry}, nil)
	if err != nil {
		return nil, time.Time{}, err
	}
	return func(v sas.BlobSignatureValues) (sas.QueryParameters, error) { return v.SignWithUserDelegation(key) }, end, nil
}
