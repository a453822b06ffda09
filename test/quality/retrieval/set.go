// Package retrieval measures the search on questions whose answers are known: each leg alone and the hybrid, beside
// BM25 of a library and the plain full-text search of Postgres.
package retrieval

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Passage is one document of a set.
type Passage struct {
	ID       string `json:"id"`
	Title    string `json:"title"`    // empty: none
	Text     string `json:"text"`     // not empty
	Language string `json:"language"` // ISO 639-1; tells the libraries how to stem, and is not told to the search
}

// Question is what is asked, and the passages that answer it.
type Question struct {
	ID      string   `json:"id"`
	Text    string   `json:"text"`
	Answers []string `json:"answers"` // ids of passages, at least one
}

// Set is the content of a folder: passages.jsonl and questions.jsonl.
type Set struct {
	Dir       string
	Passages  []Passage
	Questions []Question
}

// Load reads a set. It is an error if a question has no answer, or one that is not a passage.
func Load(dir string) (Set, error) {
	s := Set{Dir: dir}
	var err error
	if s.Passages, err = lines[Passage](filepath.Join(dir, "passages.jsonl")); err != nil {
		return s, err
	}
	if s.Questions, err = lines[Question](filepath.Join(dir, "questions.jsonl")); err != nil {
		return s, err
	}
	known := make(map[string]bool, len(s.Passages))
	for _, p := range s.Passages {
		if p.ID == "" || p.Text == "" || known[p.ID] {
			return s, fmt.Errorf("%s: passage %q: give each an id of its own and a text", dir, p.ID)
		}
		known[p.ID] = true
	}
	for _, q := range s.Questions {
		if q.Text == "" || len(q.Answers) == 0 {
			return s, fmt.Errorf("%s: question %q has no text or no answers", dir, q.ID)
		}
		for _, a := range q.Answers {
			if !known[a] {
				return s, fmt.Errorf("%s: question %q: there is no passage %q", dir, q.ID, a)
			}
		}
	}
	if len(s.Passages) == 0 || len(s.Questions) == 0 {
		return s, fmt.Errorf("%s: has no passages or no questions", dir)
	}
	return s, nil
}

func lines[T any](name string) (all []T, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read a set: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	scanner := bufio.NewScanner(f)
	scanner.Buffer(nil, 16<<20)
	for n := 1; scanner.Scan(); n++ {
		if len(scanner.Bytes()) == 0 {
			continue
		}
		var one T
		if err := json.Unmarshal(scanner.Bytes(), &one); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		all = append(all, one)
	}
	return all, scanner.Err()
}
