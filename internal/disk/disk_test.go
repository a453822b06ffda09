package disk

import "testing"

func TestFree(t *testing.T) {
	t.Parallel()
	if n, err := Free(t.TempDir()); err != nil || n == 0 {
		t.Errorf("%d, %v", n, err)
	}
}
