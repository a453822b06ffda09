package errorlist

import "testing"

func TestHas(t *testing.T) {
	t.Parallel()
	l := List{[]row{
		newRow("`VALIDATION_ERROR`: the request is not valid: … …", ""),
		newRow("payload.… is refused: …", ""), newRow("the blob name … is empty", "name a blob"), newRow("a &lt; b", "c"),
	}}
	for sentence, want := range map[string]bool{
		"the blob name x is empty":                                              true,
		"the blob name x is empty; name a blob":                                 true,
		"the blob name x is empty; name two":                                    false,
		"payload.blob is refused: the blob name x is empty":                     true,
		"payload.blob is refused: the blob name x is too long":                  false,
		"the request is not valid: body.a is neither of the two that there are": false,
		"a < b": true,
		"":      false,
	} {
		if l.Has(sentence) != want {
			t.Errorf("%q: want %v", sentence, want)
		}
	}
}
