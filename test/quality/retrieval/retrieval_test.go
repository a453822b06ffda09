package retrieval

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	second := 1 / math.Log2(3)
	for name, c := range map[string]struct {
		ranking, answers []string
		want             Score
	}{
		"first":     {[]string{"a", "b"}, []string{"a"}, Score{1, 1, 1, 1, 1}},
		"second":    {[]string{"b", "a"}, []string{"a"}, Score{0, 1, 1, 0.5, second}},
		"sixth":     {strings.Split("bcdefa", ""), []string{"a"}, Score{0, 0, 1, 1. / 6, 1 / math.Log2(7)}},
		"eleventh":  {strings.Split("bcdefghijka", ""), []string{"a"}, Score{}},
		"none":      {nil, []string{"a"}, Score{}},
		"one of 2":  {[]string{"a", "c"}, []string{"a", "b"}, Score{0.5, 0.5, 0.5, 1, 1 / (1 + second)}},
		"both of 2": {[]string{"b", "a"}, []string{"a", "b"}, Score{0.5, 1, 1, 1, 1}},
	} {
		if got := judge(c.ranking, c.answers); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestInterval(t *testing.T) {
	t.Parallel()
	if low, high := interval([]float64{0.5, 0.5, 0.5}); low != 0.5 || high != 0.5 {
		t.Errorf("of equal values: %v to %v", low, high)
	}
	values := make([]float64, 400) // half are 1: the mean's standard error is 0.025
	for i := range values {
		values[i] = float64(i % 2)
	}
	low, high := interval(values)
	if math.Abs(low-0.451) > 0.01 || math.Abs(high-0.549) > 0.01 {
		t.Errorf("%v to %v", low, high)
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	const passage, question = `{"id":"1","text":"a"}` + "\n", `{"id":"q","text":"b","answers":["1"]}` + "\n"
	for name, c := range map[string]struct{ passages, questions, fails string }{
		"good":               {passage, question + "\n", ""},
		"the same id twice":  {passage + passage, question, "an id of its own"},
		"an unknown passage": {passage, strings.Replace(question, `"1"`, `"2"`, 1), `no passage "2"`},
		"no answers":         {passage, `{"id":"q","text":"b"}`, "no answers"},
		"no questions":       {passage, "", "no questions"},
		"not JSON":           {passage + "{", question, "passages.jsonl:2"},
	} {
		dir := t.TempDir()
		for file, text := range map[string]string{"passages.jsonl": c.passages, "questions.jsonl": c.questions} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s, err := Load(dir)
		switch {
		case c.fails == "" && (err != nil || len(s.Passages) != 1 || len(s.Questions) != 1):
			t.Errorf("%s: %+v, %v", name, s, err)
		case c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)):
			t.Errorf("%s: %v", name, err)
		}
	}
}
