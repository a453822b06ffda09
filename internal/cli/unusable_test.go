package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/app"
)

// unusable is a setting with which a service can't be opened, and what every command says of it.
type unusable struct {
	setting, says string
	code          int
}

func unusables() []unusable {
	const url, storage = "DATABASE_URL=postgres://u:TopSecret@127.0.0.1:1/d", "AZURE_STORAGE_CONNECTION_STRING="
	return []unusable{
		{url + "?sslmode=verify-full&sslrootcert=/nowhere/ca.crt", "the file /nowhere/ca.crt of its sslrootcert does not exist", exitConfig},
		{url + "?sslmode=no", "its sslmode is not one that there is", exitConfig},
		{url + "?pool_max_conns=x", "its parameter pool_max_conns", exitConfig},
		{url + "?default_query_exec_mode=x", "its parameter default_query_exec_mode", exitConfig},
		{storage + "AccountName=Acme;AccountKey=VG9wU2VjcmV0", "lower-case letters and digits", exitConfig},
		{
			storage + "QueueEndpoint=https://127.0.0.1:1;BlobEndpoint=https://127.0.0.1:1;" +
				"SharedAccessSignature=sv=2024&se=2020-01-01T00:00:00Z&sig=VG9wU2VjcmV0",
			"its shared access signature expired at 2020-01-01", exitPermission,
		},
	}
}

// TestUnusableSettings: run names the part of the setting, and takes it for no outage; the doctor classifies it so, too.
func TestUnusableSettings(t *testing.T) {
	t.Parallel()
	for _, c := range unusables() {
		others := "store"
		if strings.HasPrefix(c.setting, "DATABASE_URL") {
			others = "queues,container"
		}
		for _, command := range []string{"run", "doctor --skip clock,models,machine,unit," + others} {
			t.Run(command+" "+c.says, func(t *testing.T) {
				t.Parallel()
				var out, errOut bytes.Buffer
				p := &program{
					env:   testEnv(c.setting, "HTTP_ADDR=", "START_MAX_SEC=0"),
					stdin: strings.NewReader(""), stdout: &out, stderr: &errOut, open: app.Open,
				}
				code := p.run(t.Context(), strings.Fields(command))
				said := strings.Join(strings.Fields(out.String()+errOut.String()), " ")
				if code != c.code || !strings.Contains(said, c.says) {
					t.Errorf("exit code %d, want %d and %q:\n%s", code, c.code, c.says, said)
				}
				for _, wrong := range []string{"is the database up", "is the storage account reachable", "does not answer", "TopSecret", "VG9wU2VjcmV0"} {
					if strings.Contains(said, wrong) {
						t.Errorf("it says %q:\n%s", wrong, said)
					}
				}
			})
		}
	}
}
