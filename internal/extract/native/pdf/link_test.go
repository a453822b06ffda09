package pdf

import (
	"reflect"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

func linked(target string, texts ...string) (words []word) {
	for _, s := range texts {
		words = append(words, word{text: s, target: target})
	}
	return words
}

// TestLinksOf: the linked words are found in the text that was joined of all words.
func TestLinksOf(t *testing.T) {
	t.Parallel()
	const a, b = "https://a.example/", "https://b.example/"
	join := func(parts ...[]word) (all []word) {
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	for name, tt := range map[string]struct {
		text  string
		words []word
		want  map[string]string // targets by text
	}{
		"none":       {"one two", linked("", "one", "two"), nil},
		"in prose":   {"see the map of it.", join(linked("", "see"), linked(a, "the", "map"), linked("", "of", "it.")), map[string]string{"the map": a}},
		"to the end": {"see it.", join(linked("", "see"), linked(a, "it.")), map[string]string{"it": a}},
		"side by side": {
			"one two", join(linked(a, "one"), linked(b, "two")), map[string]string{"one": a, "two": b},
		},
		"hyphenated": {
			"the harbour master", join(linked("", "the"), linked(a, "har-", "bour"), linked("", "master")),
			map[string]string{"harbour": a},
		},
		"without spaces": {"港口地图。", join(linked("", "港口"), linked(a, "地图"), linked("", "。")), map[string]string{"地图": a}},
		"another text":   {"something else", linked(a, "the", "map"), nil},
	} {
		var got map[string]string
		for _, l := range linksOf(tt.text, tt.words) {
			if got == nil {
				got = map[string]string{}
			}
			got[tt.text[l.Start:l.End]] = l.Target
		}
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

// TestJoinLinks: links stay with their words when two texts become one.
func TestJoinLinks(t *testing.T) {
	t.Parallel()
	got := joinLinks([]extract.Link{{Start: 0, End: 2, Target: "#a"}, {Start: 4, End: 9, Target: "#b"}},
		[]extract.Link{{Start: 0, End: 3, Target: "#b"}, {Start: 5, End: 6, Target: "#c"}}, 8)
	want := []extract.Link{
		{Start: 0, End: 2, Target: "#a"}, {Start: 4, End: 11, Target: "#b"}, {Start: 13, End: 14, Target: "#c"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
}
