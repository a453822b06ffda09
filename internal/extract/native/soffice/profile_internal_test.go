package soffice

import (
	"os"
	"path/filepath"
	"testing"
)

// A document that took LibreOffice over in its first run may leave links in the profile: the second writes through none.
func TestProfileFollowsNoLink(t *testing.T) {
	t.Parallel()
	theirs := filepath.Join(t.TempDir(), "contract.pdf")
	if err := os.WriteFile(theirs, []byte("%PDF"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"buildid", "bundled", "shared/lastsynchronized"} {
		dir := t.TempDir()
		c := conversion{dir: dir}
		if err := c.profile(); err != nil {
			t.Fatal(err)
		}
		link := filepath.Join(dir, "profile/user/extensions", name)
		if err := os.RemoveAll(link); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(theirs, link); err != nil {
			t.Fatal(err)
		}
		err := c.profile()
		if text, readErr := os.ReadFile(theirs); err == nil || readErr != nil || string(text) != "%PDF" {
			t.Errorf("%s: %v; the file has %q, %v", name, err, text, readErr)
		}
	}
}
