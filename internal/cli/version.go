package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/app"
)

// buildInfo is the JSON of version.
type buildInfo struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Date     string `json:"date,omitempty"` // of the commit
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (p *program) newVersionCommand() *cobra.Command {
	var out format
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version and what it was built from",
		Args:  noArgs,
		RunE: p.action(func(*cobra.Command, []string) error {
			b := readBuildInfo()
			if out == asJSON {
				return printJSON(p.stdout, b)
			}
			commit := ""
			if b.Commit != "" {
				commit = " commit " + shorten(b.Commit, 13)
			}
			if b.Modified {
				commit += " (modified)"
			}
			_, err := fmt.Fprintf(p.stdout, "async-worker %s%s %s %s\n", b.Version, commit, b.Go, b.Platform)
			return err
		}),
	}
	addOutput(cmd, &out)
	return cmd
}

func readBuildInfo() buildInfo {
	commit, modified := strings.CutSuffix(app.Commit, "-modified")
	b := buildInfo{
		Version: app.Version, Commit: commit, Modified: modified, Date: app.Date, Go: runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}
