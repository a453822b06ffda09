package config_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Without its database the vulnerability check reports that nothing was checked, and fails where it is required.
func TestVulncheckWithoutADatabase(t *testing.T) {
	t.Parallel()
	check, err := filepath.Abs(filepath.Join("..", "..", ".ci", "vulncheck"))
	if err != nil {
		t.Fatal(err)
	}
	for _, cause := range []string{
		"dial tcp: lookup vuln.go.dev: no such host", "Service Unavailable", "EOF", "context deadline exceeded",
		"tls: failed to verify certificate: x509: certificate signed by unknown authority",
	} {
		fake := filepath.Join(t.TempDir(), "govulncheck")
		script := "#!/bin/sh\necho 'govulncheck: fetching vulnerabilities: Get " +
			"\"https://vuln.go.dev/index/db.json.gz\": " + cause + "'\nexit 1\n"
		if err := os.WriteFile(fake, []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		for required, fails := range map[string]bool{"": false, "required": true} {
			cmd := exec.CommandContext(t.Context(), check, fake)
			cmd.Env = append(os.Environ(), "VULNCHECK="+required)
			out, err := cmd.CombinedOutput()
			if (err != nil) != fails || !strings.Contains(string(out), "VULNERABILITIES WERE NOT CHECKED") {
				t.Errorf("VULNCHECK=%s, %s: %v\n%s", required, cause, err, out)
			}
		}
	}
}
