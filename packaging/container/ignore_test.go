package container

import (
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// goProgram is a package that the Dockerfile builds or runs.
var goProgram = regexp.MustCompile(`\s\./([a-z/-]+)`)

// The image's build has the source of each program that the Dockerfile builds or runs.
func TestIgnored(t *testing.T) {
	t.Parallel()
	_, dockerfile := read(t)
	text, err := os.ReadFile("Dockerfile.dockerignore")
	if err != nil {
		t.Fatal(err)
	}
	programs := goProgram.FindAllStringSubmatch(dockerfile, -1)
	if len(programs) == 0 {
		t.Fatal("the Dockerfile builds nothing")
	}
	for _, p := range programs {
		ignored := false
		for line := range strings.Lines(string(text)) {
			pattern, keep := strings.CutPrefix(strings.TrimSpace(line), "!")
			for dir := p[1]; dir != "."; dir = path.Dir(dir) {
				if ok, err := path.Match(pattern, dir); err != nil {
					t.Fatal(err)
				} else if ok {
					ignored = !keep // the last line that matches decides
				}
			}
		}
		if ignored {
			t.Errorf("./%s is built, and Dockerfile.dockerignore leaves it out", p[1])
		}
	}
}
