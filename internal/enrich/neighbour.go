package enrich

import (
	"strings"
	"unicode"
)

// neighbours are languages that trigrams can't distinguish well from a related one, or that whatlanggo doesn't
// know. Letters and frequent words that the other language lacks distinguish them.
var neighbours = map[string]struct {
	code                       string
	letters, theirLetters      string
	frequent, theirsOfFrequent map[string]bool
}{
	"es": {
		"ca", "àèòçï·", "ñ¿¡",
		words("amb els és dels aquest aquesta aquests aquestes pel pels heu podeu què i"),
		words("con los es del esto este esta estos estas por usted puede qué y"),
	},
	"da": {
		"nb", "", "",
		words("av etter hva meg ble noe mye uten bare mer opp nå seg"),
		words("af efter hvad mig blev noget meget uden kun mere op nu sig"),
	},
	"cs": {
		"sk", "ľĺŕôä", "ěřů",
		words("sa je aj alebo pre že ako bol bola sú od keď podľa môže čo"),
		words("se je také nebo pro že jako byl byla jsou od když podle může co"),
	},
}

func words(list string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		set[w] = true
	}
	return set
}

// minBalance is the surplus of letters and words that indicates a neighbour.
const minBalance = 2

// neighbour returns the neighbour of the language found in which the text more likely is, or found.
func neighbour(found, text string) string {
	n, known := neighbours[found]
	if !known {
		return found
	}
	text = strings.ToLower(text)
	balance := 0
	for _, r := range text {
		switch {
		case strings.ContainsRune(n.letters, r):
			balance++
		case strings.ContainsRune(n.theirLetters, r):
			balance--
		}
	}
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' }) {
		switch {
		case n.frequent[w] && !n.theirsOfFrequent[w]:
			balance++
		case n.theirsOfFrequent[w] && !n.frequent[w]:
			balance--
		}
	}
	if balance >= minBalance {
		return n.code
	}
	return found
}
