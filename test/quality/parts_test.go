package main

import "testing"

// TestCompareParts: each kind of part is scored, and levels of headings count up to a constant.
func TestCompareParts(t *testing.T) {
	t.Parallel()
	const reference = "## A\n\n### B\n\n- one\n- two\n\n| a | b |\n| - | - |\n| 1 | [c](http://e.com/x_%28y%29) |\n"
	for output, want := range map[string]string{
		reference: "1.000\t1.000\t1.000\t1.000\t1.000",
		"# A\n\n## B\n\n- one\n- two\n\n| a | b |\n| - | - |\n| 1 | [c](http://e.com/x_(y)) |\n": "1.000\t1.000\t1.000\t1.000\t1.000",
		"# A\n\n# B\n\n- one\n\ntwo\n\n| a b |\n| - |\n| 1 c |\n":                                "0.500\t1.000\t0.667\t0.000\t0.000",
	} {
		s, err := compareParts(t.Context(), reference, output)
		if got := partsOf(s); err != nil || got != want {
			t.Errorf("%q: got %s, want %s (%v)", output, got, want, err)
		}
	}
	if s, err := compareParts(t.Context(), "text", "text"); err != nil || partsOf(s) != "-\t-\t-\t-\t-" {
		t.Errorf("no parts: %s, %v", partsOf(s), err)
	}
}
