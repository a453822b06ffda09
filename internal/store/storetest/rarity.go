package storetest

import (
	"fmt"
	"strings"
	"testing"
)

// testRarity: a word counts in all its forms, and only among the tenant's chunks.
func testRarity(t *testing.T, b *bench) {
	if r, err := b.Rarity(b.ctx(), "any pilots?"); err != nil || r.All != 0 {
		t.Errorf("without documents: %+v, %v", r, err)
	}
	b.ingestIn("one.txt", "en", "The pilot is on the bridge of the ship.")
	b.ingestIn("two.txt", "en", "Two pilots wait at the gate.")
	b.ingestIn("three.txt", "en", "A cat sleeps on the rope. 東京タワー")
	r, err := b.Rarity(b.ctx(), "Where is the Pilot's ship, the submarine, 東京都? Über ﬁles the well-kept")
	if err != nil {
		t.Fatal(err)
	}
	if r.All != 3 {
		t.Errorf("%v chunks", r.All)
	}
	for word, want := range map[string]float64{
		"pilot": 2, "ship": 1, "submarine": 0, "東京": 1, "京都": 0, "über": 0, "files": 0, "kept": 0, "the": -1, "where": -1,
	} {
		n, ok := r.Words[word]
		switch {
		case !ok:
			t.Errorf("%s is missing: %v", word, r.Words)
		case want < 0 && n != nil:
			t.Errorf("the stop word %s: %v", word, *n)
		case want >= 0 && (n == nil || *n != want):
			t.Errorf("%s: %v, want %v", word, n, want)
		}
	}
	if _, ok := r.Words["well-kept"]; ok {
		t.Error("a compound is no word beside its parts")
	}

	var long strings.Builder
	for i := range 70 {
		fmt.Fprintf(&long, "submarine%d ", i)
	}
	if r, err = b.Rarity(b.ctx(), long.String()+"ship"); err != nil || len(r.Words) != 64 {
		t.Errorf("of 71 words %d are counted: %v", len(r.Words), err)
	}
	if _, ok := r.Words["ship"]; ok {
		t.Error("a word that was not counted is taken for a stop word")
	}
}
