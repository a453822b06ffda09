package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// contents returns the contents of hits, in order.
func contents(hits []store.Hit) (all []string) {
	for _, h := range hits {
		all = append(all, h.Content)
	}
	return all
}

// testSearchExcludes: a chunk with an excluded term is not a hit, however near its vector is. The others are found.
func testSearchExcludes(t *testing.T, b *bench) {
	const beaten, show, dome = "the Super Bowl was lost by the Panthers", "the halftime show of the Super Bowl",
		"the bowl under the Carolina dome"
	b.ingest("bowl.pdf", beaten, show, dome)
	for query, want := range map[string][]string{
		`"Super Bowl"`:                 {beaten, show, dome},
		`"Super Bowl" -Panthers`:       {show, dome},
		`"Super Bowl" -PANTHERS -dome`: {show},
		`bowl -"halftime show"`:        {beaten, dome},
		`bowl -“halftime show”`:        {beaten, dome},
		`bowl -"show halftime"`:        {beaten, show, dome}, // no chunk has the phrase
		`-panthers OR bowl`:            {show, dome},
		`bowl -panther`:                {beaten, show, dome}, // another word
		// No chunk matches; the exclusion applies to near ones, too.
		`lighthouse -panthers`: {show, dome},
		`bowl -terms`:          nil,                  // in a heading of all
		`bowl --panthers`:      {beaten, show, dome}, // written like a command's option
		`-panthers`:            nil,                  // only an exclusion
		`bowl ` + strings.Repeat(`-panthers `, 200): {show, dome},
	} {
		for _, near := range []string{beaten, show, dome} {
			hits := b.search(store.Query{Text: query, Embedding: embed(near)})
			if missing := unlike(want, contents(hits)); missing != "" {
				t.Errorf("%.60s near %q: %s", query, near, missing)
			}
		}
	}
}

// testQuestions: a search finds what people mean by a question.
func testQuestions(t *testing.T, b *bench) {
	const buses, parcel = "buses run between the airport and the city, both ways", "a parcel from the airport"
	const frost, heat, span = "the valve is rated for -40 degrees", "the pump is rated for 40 degrees",
		"in storage from 1990-2000"
	const desk = "the check-in desk opens early"
	b.ingest("all.pdf", buses, parcel, frost, heat, span, desk)
	for query, want := range map[string][]string{
		// Not "… to" or "from …", which would match the parcel.
		"which buses run to or from the airport?": {buses, parcel},
		"buses Or parcel":                         {parcel, buses},
		"parcel OR desk":                          {desk, parcel},
		"OR desk":                                 {desk},
		"desk OR":                                 {desk},
		"rated -40":                               {frost, heat},
		"rated −40 degrees":                       {frost, heat}, // U+2212
		`rated -"40"`:                             {frost},
		"rated -.5":                               {frost, heat},
		"check-in":                                {desk},
		"desk -check-in":                          nil,
		"1990-2000":                               {span},
	} {
		hits := contents(b.search(store.Query{Text: query}))
		if missing := unlike(want, hits); missing != "" {
			t.Errorf("%s: %s", query, missing)
		}
		if strings.HasPrefix(query, "which") && !slices.Equal(hits, want) {
			t.Errorf("%s: %q is first", query, hits)
		}
	}
}

// testSearchOperators: a question has a limited number of exclusions, phrases and ORs. What it repeats is one.
func testSearchOperators(t *testing.T, b *bench) {
	const dues = "the harbour dues"
	b.ingest("dues.pdf", dues)
	each := func(n int, form string) string {
		var all strings.Builder
		for i := range n {
			fmt.Fprintf(&all, form, i)
		}
		return all.String()
	}
	for _, c := range []struct {
		text string
		ok   bool
	}{
		{"harbour " + each(store.MostOperators, "-w%d "), true},
		{"harbour " + each(store.MostOperators, " OR w%d"), true},
		{"harbour " + each(store.MostOperators, `"harbour w%d" `), true},
		{"harbour " + each(400, "w%d - "), true},
		{"harbour" + strings.Repeat(" OR harbour", 400) + strings.Repeat(" -no", 400) + strings.Repeat(` "harbour dues"`, 300), true},
		{"harbour " + each(store.MostOperators+1, "-w%d "), false},
		{"harbour " + each(store.MostOperators+1, "－港%d "), false},
		{"harbour " + each(store.MostOperators+1, " OR w%d"), false},
		{"harbour " + each(store.MostOperators+1, `“harbour w%d” `), false},
		{"harbour " + each(30, "-w%d ") + each(20, `"harbour w%d" OR `) + "dues", false},
	} {
		hits, err := b.Search(b.ctx(), store.Query{Text: c.text, Embedding: embed(dues), Limit: 3, Explain: true})
		if c.ok && (err != nil || len(hits) != 1) || !c.ok && !errors.Is(err, store.ErrQuestion) {
			t.Errorf("%.40s…: %d hits, %v", c.text, len(hits), err)
		}
	}
}

// testSearchNeighbours: a hit by its vector alone has Matched false. With a meaningless vector it is not a hit.
func testSearchNeighbours(t *testing.T, b *bench) {
	const harbour, berth = "the harbour of the town", "a berth for a night"
	b.ingest("sea.pdf", harbour, berth)
	find := func(text string) (matched, near []string) {
		for _, h := range b.search(store.Query{Text: text, Embedding: embed(harbour)}) {
			if h.Matched {
				matched = append(matched, h.Content)
			} else {
				near = append(near, h.Content)
			}
		}
		return matched, near
	}
	for _, wordless := range []string{"?", "🚢", "…", "- - -", `""`, "-", "¿?", "-harbour", "⚓️ → 🏖"} {
		if matched, near := find(wordless); len(matched)+len(near) != 0 {
			t.Errorf("%s: %q, %q", wordless, matched, near)
		}
	}
	for text, want := range map[string][2][]string{
		"harbour":  {{harbour}, {berth}},
		"mooring":  {nil, {harbour, berth}},
		"harbours": {{harbour}, {berth}}, // another form
		"harbourx": {nil, {harbour, berth}},
		"":         {nil, {harbour, berth}}, // by the vector alone
		"  ":       {nil, {harbour, berth}},
	} {
		matched, near := find(text)
		if unlike(want[0], matched) != "" || unlike(want[1], near) != "" {
			t.Errorf("%q: matched %q, near %q", text, matched, near)
		}
	}

	b = newBench(t, b.open) // the offline provider's vectors are words
	_, h := b.run()
	s, err := b.StageDocument(b.ctx(), staging(h, "sea.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	offline := batch(h, s, chunk(0, harbour), chunk(1, berth))
	offline.Model = "offline-hash-1"
	if _, err := b.StageChunks(b.ctx(), offline); err != nil {
		t.Fatal(err)
	}
	b.complete(h, activate(s, 2))
	for text, want := range map[string][2][]string{
		"harbour":       {{harbour}, nil},
		"mooring":       {nil, nil},
		"harbours":      {{harbour}, nil},
		"harbourx":      {nil, {harbour}}, // the same beginning
		"harbour -town": {nil, nil},
		"?":             {nil, nil},
		"":              {nil, {harbour, berth}},
	} {
		matched, near := find(text)
		if unlike(want[0], matched) != "" || unlike(want[1], near) != "" {
			t.Errorf("offline, %q: matched %q, near %q", text, matched, near)
		}
	}
}
