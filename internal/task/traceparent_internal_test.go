package task

import "testing"

// A part with more or fewer digits is malformed, as is a version 00 that goes on.
func TestTraceParentParts(t *testing.T) {
	t.Parallel()
	const trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	for s, valid := range map[string]bool{
		"00-" + trace + "-" + parent + "-01": true, "01-" + trace + "-" + parent + "-01-more": true,
		"00-" + trace + "-" + parent + "-01-more": false, "ff-" + trace + "-" + parent + "-01": false,
		"000-" + trace + "-" + parent + "-01": false, "0-" + trace + "-" + parent + "-01": false,
		"00-" + trace + "0-" + parent + "-01": false, "00-" + trace[1:] + "-" + parent + "-01": false,
		"00-" + trace + "-" + parent + "0-01": false, "00-" + trace + "-" + parent[1:] + "-01": false,
		"00-" + trace + "-" + parent + "-1": false, "00-" + trace + "-" + parent + "-011": false,
		"00-00000000000000000000000000000000-" + parent + "-01": false, "00-" + trace + "-0000000000000000-01": false,
		"00-" + trace + "-" + parent + "-01\n": false, "": false,
	} {
		if got := validTraceParent(s); got != s && valid || got != "" && !valid {
			t.Errorf("%q: got %q", s, got)
		}
	}
}
