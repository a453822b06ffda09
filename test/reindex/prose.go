package reindex

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// author writes prose, the same for the same seed.
type author struct{ *rand.Rand }

func newAuthor(seed, stream uint64) author { return author{rand.New(rand.NewPCG(seed, stream))} }

// The parts of sentences, of which one each is chosen.
const (
	subjects = "the harbour authority|the committee|each contractor|the night shift|an independent auditor|" +
		"the crane operator|our supplier|the insurer|the regional office|a delegation of engineers|the tenant|the " +
		"surveyor|" +
		"the municipal archive|the second mate|the project board|a former director|the laboratory|the registrar"
	verbs = "approved|postponed|described|rejected|measured|recorded|repaired|inspected|questioned|" +
		"documented|replaced|reported|financed|audited|underestimated|announced|withdrew|renewed"
	adjectives = "annual|provisional|southern|damaged|unusual|preliminary|reinforced|public|detailed|" +
		"expensive|automatic|seasonal|historic|temporary|revised|confidential|overdue|structural"
	objects = "tide tables|loading ramps|insurance policy|maintenance schedule|water samples|customs forms|" +
		"steel girders|safety training|fuel reserves|drainage system|pension scheme|signal lamps|timber " +
		"imports|radar mast|" +
		"dredging permit|quay wall|freight rates|ballast pumps"
	endings = "before the end of the quarter|despite the weather|at its own expense|without further notice|" +
		"in the presence of two witnesses|according to the minutes|for the third year in a row|as the contract " +
		"required|" +
		"although the budget was exhausted|on behalf of the shareholders|after a delay of several weeks|in spite of " +
		"objections"
	links = "However,|In addition,|By then|For this reason|At the same time|As a result,|Earlier that year|In practice"
)

func (a author) one(of string) string {
	all := strings.Split(of, "|")
	return all[a.IntN(len(all))]
}

func (a author) sentence() string {
	clause := fmt.Sprintf("%s %s the %s %s %s", a.one(subjects), a.one(verbs), a.one(adjectives), a.one(objects),
		a.one(endings))
	switch a.IntN(5) {
	case 0:
		clause = a.one(links) + " " + clause
	case 1:
		clause += fmt.Sprintf(", which cost %d euros in %d", 100+a.IntN(90_000), 1950+a.IntN(75))
	case 2:
		clause += fmt.Sprintf(", while %s %s %d %s", a.one(subjects), a.one(verbs), 2+a.IntN(400), a.one(objects))
	}
	return strings.ToUpper(clause[:1]) + clause[1:] + "."
}

func (a author) paragraph() string {
	sentences := make([]string, 2+a.IntN(7))
	for i := range sentences {
		sentences[i] = a.sentence()
	}
	return strings.Join(sentences, " ")
}

func (a author) heading() string {
	words := a.one(adjectives) + " " + a.one(objects)
	return fmt.Sprintf("%s and %s in %d", strings.ToUpper(words[:1])+words[1:], a.one(objects), 1900+a.IntN(120))
}
