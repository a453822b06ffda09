package signing_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/webhook/signing"
)

func secretOf(bytes int) string {
	return "whsec_" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", bytes)))
}

func TestKeys(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]int{
		"": 0, " ": 0, secretOf(24): 1, secretOf(64): 1, secretOf(24) + " " + secretOf(32): 2,
		secretOf(24) + "," + secretOf(32): 2, secretOf(24) + ", \n" + secretOf(32) + "\n": 2,
	} {
		if keys, err := signing.Keys(list); err != nil || len(keys) != want {
			t.Errorf("%q: %d keys, %v; want %d", list, len(keys), err, want)
		}
	}
	for list, want := range map[string]string{
		"TopSecret": "secret 1 of 1 does not begin with whsec_", "whsec_Top!": "secret 1 of 1 is not base64 after whsec_",
		secretOf(23): "holds 23 bytes, not 24 to 64", secretOf(65): "holds 65 bytes",
		secretOf(24) + " whsec_Top!": "secret 2 of 2 is not base64",
	} {
		_, err := signing.Keys(list)
		if _, ok := errors.AsType[*signing.SecretError](err); !ok || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "Top") {
			t.Errorf("%q: %v, want %q", list, err, want)
		}
	}
}
