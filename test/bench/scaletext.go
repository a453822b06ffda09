package main

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/test/quality/retrieval"
)

// Passages of a set are too few. More of them are made of its sentences: some words stay, others are drawn from the
// vocabulary by Zipf's law, others from the words of the document's topic. The vocabulary goes on after the set's words
// with words that are made of two of them, so that rare words are as many as in a large collection.
const (
	scaleVocabulary = 300_000
	functionWords   = 120 // the most frequent ones, which keep their places in a sentence
	topicWords      = 40
	wordsOfChunk    = 110
)

// scaleText makes passages and vectors: the same ones for the same set, seed and dimensions.
type scaleText struct {
	sample    *sample
	sentences [][]string
	words     []string // most frequent first
	rank      map[string]int
}

var word = regexp.MustCompile(`[\p{L}\p{N}]+`)

func newScaleText(s retrieval.Set, seed uint64, dimensions int) (*scaleText, error) {
	t := &scaleText{sample: newSample(seed, dimensions), rank: map[string]int{}}
	counts := map[string]int{}
	for _, p := range s.Passages {
		for _, sentence := range strings.SplitAfter(p.Text, ". ") {
			words := strings.Fields(sentence)
			if len(words) < 4 {
				continue
			}
			t.sentences = append(t.sentences, words)
			for _, w := range words {
				if w = strings.ToLower(word.FindString(w)); w != "" {
					counts[w]++
				}
			}
		}
	}
	if len(counts) < 1000 {
		return nil, fmt.Errorf("%s has %d different words, separated by spaces; use a set with a thousand", s.Dir, len(counts))
	}
	t.words = slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(counts[b]-counts[a], strings.Compare(a, b))
	})
	known := len(t.words)
	for i, w := range t.words {
		t.rank[w] = i
	}
	for len(t.words) < scaleVocabulary {
		a, b := []rune(t.words[t.sample.random.IntN(known)]), []rune(t.words[t.sample.random.IntN(known)])
		w := string(a[:(len(a)+1)/2]) + string(b[len(b)/2:])
		if _, taken := t.rank[w]; !taken {
			t.rank[w] = len(t.words)
			t.words = append(t.words, w)
		}
	}
	return t.with(t.sample.random), nil
}

// share makes other documents of the same words and topics. Shares may be used at the same time.
func (t *scaleText) share(n int) *scaleText {
	return t.with(rand.New(rand.NewPCG(uint64(n), uint64(t.sample.dimensions))))
}

func (t *scaleText) with(random *rand.Rand) *scaleText {
	other, s := *t, *t.sample
	s.random, s.zipf = random, rand.NewZipf(random, 1.07, 30, uint64(len(t.words)-functionWords-1))
	other.sample = &s
	return &other
}

// drawn is a word of the vocabulary that is no function word.
func (t *scaleText) drawn() string { return t.words[functionWords+int(t.sample.zipf.Uint64())] }

// document makes the chunks of one.
func (t *scaleText) document(chunks int) []store.Chunk {
	random := t.sample.random
	topic := make([]string, topicWords)
	for i := range topic {
		topic[i] = t.drawn()
	}
	center := add(t.sample.topics[random.IntN(topics)], t.sample.noise(), 0.6)
	made := make([]store.Chunk, chunks)
	for i := range made {
		made[i] = t.chunk(i, t.passage(topic), t.sample.near(center, 0.8))
		made[i].HeadingPath = []string{topic[0] + " " + topic[i%topicWords]}
	}
	return made
}

func (t *scaleText) chunk(position int, content string, vector []float32) store.Chunk {
	return store.Chunk{
		Position: position, Content: content, Pages: []int{position/4 + 1}, Kind: "text", Tokens: wordsOfChunk, Language: "en",
		Key:       fmt.Sprintf("%016x%016x", t.sample.random.Uint64(), t.sample.random.Uint64()),
		Boxes:     []store.Box{{Page: position/4 + 1, Left: 0.1, Top: 0.2, Right: 0.9, Bottom: 0.4}},
		Embedding: vector,
	}
}

func (t *scaleText) passage(topic []string) string {
	random := t.sample.random
	made := make([]string, 0, wordsOfChunk+40)
	for len(made) < wordsOfChunk/2+random.IntN(wordsOfChunk) {
		for _, w := range t.sentences[random.IntN(len(t.sentences))] {
			rank, known := t.rank[strings.ToLower(word.FindString(w))]
			switch draw := random.IntN(10); {
			case known && rank < functionWords || draw < 2:
			case draw < 5:
				w = topic[min(random.IntN(topicWords), random.IntN(topicWords))]
			default:
				w = t.drawn()
			}
			made = append(made, w)
		}
	}
	return strings.Join(made, " ")
}

// planted are the set's own passages, a document each, and their vectors.
func (t *scaleText) planted(s retrieval.Set) (documents []bulkDocument, vectors map[string][]float32) {
	vectors = make(map[string][]float32, len(s.Passages))
	for _, p := range s.Passages {
		v := t.sample.near(add(t.sample.topics[t.sample.random.IntN(topics)], t.sample.noise(), 0.6), 0.8)
		vectors[p.ID] = v
		documents = append(documents, bulkDocument{set: others, filename: p.ID, chunks: []store.Chunk{t.chunk(0, p.Title+"\n"+p.Text, v)}})
	}
	return documents, vectors
}
