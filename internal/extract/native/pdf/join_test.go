package pdf

import "testing"

// TestJoinInCell: a cell is so narrow that its lines end at the hyphens of addresses, formulas and compounds.
func TestJoinInCell(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ above, below, want string }{
		{"a mes-", "sage", "a message"},
		{"the right (mes-", "sage)", "the right (message)"},
		{"see example.org/quay-", "side", "see example.org/quay-side"},
		{"general-parallel-", "file-system", "general-parallel-file-system"},
		{"alpha-N-", "methyl", "alpha-N-methyl"},
		{"NON-", "binding", "NON-binding"},
		{"3-methyl-", "ethyl", "3-methyl-ethyl"},
		{"d[ac]-", "ethyl", "d[ac]-ethyl"},
		{"-", "none", "- none"},
		{"see QUAY/", "(accessed", "see QUAY/ (accessed"},
		{"either/", "or", "either/or"},
		{"said—", "(so", "said—(so"},
	} {
		if got := vocabularyOf("").joinInCell(tt.above, tt.below); got != tt.want {
			t.Errorf("%q and %q: got %q, want %q", tt.above, tt.below, got, tt.want)
		}
	}
}
