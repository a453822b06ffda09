package score_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract/score"
	"github.com/seed-7227ef26/async-worker/test/corpus"
)

// shared is a folder of real third-party documents, beside the repository, with the program that Score has to agree
// with. The test is skipped without it.
const shared = "../../../../shared/corpus"

// Score agrees with score.py to the last printed digit.
func TestAgreesWithReferenceProgram(t *testing.T) {
	t.Parallel()
	program := filepath.Join(shared, "score.py")
	if _, err := os.Stat(program); err != nil {
		t.Skip(corpus.Missing)
	}
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed; on Debian and Ubuntu: apt-get install python3")
	}
	references, err := filepath.Glob(filepath.Join(shared, "docling", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "tricky.md")
	if err := os.WriteFile(path, []byte(tricky), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, path := range append(references, path) {
		reference, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(reference) > 40_000 {
			continue // the program is quadratic
		}
		output := disturb(string(reference), uint64(i))
		cmd := exec.CommandContext(t.Context(), "python3", program, path)
		cmd.Stdin = strings.NewReader(output)
		cmd.Env = append(os.Environ(), "PYTHONUTF8=1", "PYTHONDONTWRITEBYTECODE=1")
		want, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		f1, order := score.Score(string(reference), output)
		if got := fmt.Sprintf("%.3f %.3f\n", f1, order); got != string(want) {
			t.Errorf("%s: got %swant %s", filepath.Base(path), got, want)
		}
	}
}

// tricky has what Python and Go may split or lower-case differently.
var tricky = strings.Repeat(
	"ΟΔΟΣ İstanbul ²x ½ Ⅷ e\u0301 hy-\r\nphen lone-\rcr a\\_b so\u00adft &amp;lt; [a](b) ![c](d)\n", 3)

// disturb moves, drops and doubles lines and words of a text, deterministically by seed.
func disturb(text string, seed uint64) string {
	random := rand.New(rand.NewPCG(seed, 1))
	lines := strings.SplitAfter(text, "\n")
	for range len(lines) / 4 {
		i, j := random.IntN(len(lines)), random.IntN(len(lines))
		switch random.IntN(3) {
		case 0:
			lines[i], lines[j] = lines[j], lines[i]
		case 1:
			lines[i] += lines[j]
		default:
			words := strings.Split(lines[i], " ")
			random.Shuffle(len(words), func(a, b int) { words[a], words[b] = words[b], words[a] })
			lines[i] = strings.Join(words[len(words)/5:], " ")
		}
	}
	return strings.ToUpper(strings.Join(lines, ""))
}
