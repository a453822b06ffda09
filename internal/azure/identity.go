package azure

import (
	"fmt"
	"os"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"github.com/seed-7227ef26/async-worker/internal/naming"
)

// azureChassis is the chassis asset tag of every virtual machine in Azure.
// Source: https://learn.microsoft.com/azure/virtual-machines/instance-metadata-service
const azureChassis = "7783-7084-3265-9085-8269-3286-77"

// FromIdentity uses the machine's or user's identity: a managed identity on Azure (the one of AZURE_CLIENT_ID if set),
// otherwise the SDK's default chain (environment, workload identity, Azure CLI, …). String names it. It requests no
// token yet.
func FromIdentity(account string) (*Credentials, error) {
	token, how, err := identity()
	if err != nil {
		return nil, fmt.Errorf("AZURE_STORAGE_ACCOUNT: no identity to use it with: %w", err)
	}
	return FromToken(account, token, how)
}

// FromToken uses an identity whose tokens token gives. how says in messages how the worker authenticates.
func FromToken(account string, token azcore.TokenCredential, how string) (*Credentials, error) {
	if !naming.StorageAccount(account) {
		return nil, fmt.Errorf("AZURE_STORAGE_ACCOUNT: not a storage account's name (3-24 lower-case letters and " +
			"digits, no address)")
	}
	return &Credentials{account: account, token: token, how: how, endpoints: map[Service]string{
		Queue: "https://" + account + ".queue.core.windows.net", Blob: "https://" + account + ".blob.core.windows.net",
	}}, nil
}

func identity() (azcore.TokenCredential, string, error) {
	if explicit() || !onAzure() {
		token, err := azidentity.NewDefaultAzureCredential(nil)
		return token, "authenticated by the default credential chain (environment, workload identity, Azure CLI)", err
	}
	options, how := &azidentity.ManagedIdentityCredentialOptions{},
		"authenticated by the system-assigned managed identity"
	if id := os.Getenv("AZURE_CLIENT_ID"); id != "" {
		options.ID, how = azidentity.ClientID(id), "authenticated by the managed identity of AZURE_CLIENT_ID"
	}
	token, err := azidentity.NewManagedIdentityCredential(options)
	return token, how, err
}

// explicit reports whether the environment names an identity other than a managed one.
func explicit() bool {
	return os.Getenv("AZURE_FEDERATED_TOKEN_FILE") != "" || os.Getenv("AZURE_CLIENT_SECRET") != "" ||
		os.Getenv("AZURE_CLIENT_CERTIFICATE_PATH") != ""
}

// onAzure reports whether a managed identity can exist here. It does not use the network: off Azure a request to the
// metadata address takes seconds to fail.
func onAzure() bool {
	if os.Getenv("IDENTITY_ENDPOINT") != "" || os.Getenv("MSI_ENDPOINT") != "" {
		return true // App Service, Container Apps, Arc
	}
	tag, err := os.ReadFile("/sys/class/dmi/id/chassis_asset_tag")
	return err == nil && strings.TrimSpace(string(tag)) == azureChassis
}
