package container

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// Who gives the image on gives the licences' texts on with it: the last stage, which is the image, has them beside the bill
// of materials, and each file that it takes from the build is one that the build makes or has.
func TestPapers(t *testing.T) {
	t.Parallel()
	_, dockerfile := read(t)
	dockerfile = strings.ReplaceAll(dockerfile, "\\\n", " ")
	last := strings.LastIndex(dockerfile, "\nFROM ")
	if last < 0 {
		t.Fatal("the Dockerfile has one stage")
	}
	build, image := dockerfile[:last], dockerfile[last:]
	var papers []string
	for line := range strings.Lines(image) {
		words := strings.Fields(line)
		if len(words) < 4 || words[0] != "COPY" || words[1] != "--from=build" {
			continue
		}
		sources, to := words[2:len(words)-1], words[len(words)-1]
		for _, source := range sources {
			if strings.HasPrefix(source, "/out/") && !strings.Contains(build, "> "+source) && !strings.Contains(build, "-o "+source) {
				t.Errorf("the build does not make %s", source)
			}
			if to == "/usr/share/doc/async-worker/" {
				papers = append(papers, path.Base(source))
			}
		}
	}
	for _, want := range []string{"LICENSE", "third-party-notices", "sbom.cdx.json"} {
		if !slices.Contains(papers, want) {
			t.Errorf("the image has no %s in /usr/share/doc/async-worker: %q", want, papers)
		}
	}
}
