package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Embeddings of real documents are not uniform noise: chunks of a document are near each other, documents of a
// topic nearer than others, and the rest varies in far fewer directions than a vector has components.
const (
	topics        = 100
	perDocument   = 100    // chunks
	latent        = 64     // directions in which chunks of a document differ
	vocabulary    = 20_000 // words, used as often as Zipf's law says
	wordsPerChunk = 120
)

// sample makes documents with vectors and words, the same ones for the same seed.
type sample struct {
	random     *rand.Rand
	zipf       *rand.Zipf
	dimensions int
	topics     [][]float32
	directions [][]float32
}

func newSample(seed uint64, dimensions int) *sample {
	random := rand.New(rand.NewPCG(seed, uint64(dimensions)))
	s := &sample{random: random, zipf: rand.NewZipf(random, 1.1, 200, vocabulary-1), dimensions: dimensions}
	for range topics {
		s.topics = append(s.topics, s.noise())
	}
	for range latent {
		s.directions = append(s.directions, s.noise())
	}
	return s
}

// noise is a vector of a random direction, about 1 long.
func (s *sample) noise() []float32 {
	v := make([]float32, s.dimensions)
	scale := 1 / math.Sqrt(float64(s.dimensions))
	for i := range v {
		v[i] = float32(s.random.NormFloat64() * scale)
	}
	return v
}

// near is v, moved by about this much along the latent directions and a third of that in all, made 1 long.
func (s *sample) near(v []float32, by float64) []float32 {
	moved := add(v, s.noise(), by/3)
	for _, d := range s.directions {
		moved = add(moved, d, by*s.random.NormFloat64()/math.Sqrt(latent))
	}
	return unit(moved)
}

// document makes the chunks of a document about a topic, -1 for any.
func (s *sample) document(topic int) []store.Chunk {
	if topic < 0 {
		topic = s.random.IntN(topics)
	}
	center := add(s.topics[topic], s.noise(), 0.6)
	chunks := make([]store.Chunk, perDocument)
	for i := range chunks {
		chunks[i] = store.Chunk{
			Position: i, Content: s.words(wordsPerChunk), HeadingPath: []string{s.words(2)}, Pages: []int{i/4 + 1},
			Kind:   "text",
			Tokens: wordsPerChunk, Key: fmt.Sprintf("%016x%016x", s.random.Uint64(), s.random.Uint64()),
			Boxes:     []store.Box{{Page: i/4 + 1, Left: 0.1, Top: 0.2, Right: 0.9, Bottom: 0.4}},
			Embedding: s.near(center, 0.8),
		}
	}
	return chunks
}

func (s *sample) words(n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = fmt.Sprintf("w%x", s.zipf.Uint64())
	}
	return strings.Join(words, " ")
}

// add is v + by × w.
func add(v, w []float32, by float64) []float32 {
	sum := make([]float32, len(v))
	for i := range v {
		sum[i] = v[i] + w[i]*float32(by)
	}
	return sum
}

func unit(v []float32) []float32 {
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	length := float32(math.Sqrt(square))
	for i := range v {
		v[i] /= length
	}
	return v
}
