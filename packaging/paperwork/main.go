// Command paperwork writes the papers that lie beside the program in a package or an image: the Debian changelog, the
// licences of what the binary contains, and a bill of materials. What is linked is read from the binary itself, what is
// embedded from the source. Each paper depends on its arguments alone, so that two builds agree.
package main

import (
	"context"
	"debug/buildinfo"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "paperwork: %v\n", err)
		os.Exit(1)
	}
}

const usage = "usage: paperwork changelog|copyright|notices|sbom [flags]; paperwork changelog -h lists the flags"

// options are what the papers are about.
type options struct {
	version    string // of the Debian package, or of the program alone
	deb        bool   // it is in a Debian package
	maintainer string // "Name <mail>"
	date       time.Time
	changelog  string // the path of CHANGELOG.md
	binary     string // the path of the program
	vendored   string // the folder of others' files that the program embeds
}

func run(ctx context.Context, args []string, w io.Writer) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	var o options
	var epoch int64
	flags := flag.NewFlagSet("paperwork", flag.ContinueOnError)
	flags.StringVar(&o.version, "version", "", "the version of the Debian package, or of the program")
	flags.BoolVar(&o.deb, "deb", true, "the program is in a Debian package; false: in an image")
	flags.StringVar(&o.maintainer, "maintainer", "", "who signs the changelog: Name <mail>")
	flags.Int64Var(&epoch, "date", 0, "the date of the build, in seconds since 1970; 0: the bill of materials has none")
	flags.StringVar(&o.changelog, "changelog", "CHANGELOG.md", "the project's changelog")
	flags.StringVar(&o.binary, "binary", "", "the program that is packaged")
	flags.StringVar(&o.vendored, "vendored", "internal/dashboard/static/vendor", "the folder of others' files in the program")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	o.date = time.Unix(epoch, 0).UTC()
	switch args[0] {
	case "changelog":
		return writeChangelog(w, o)
	case "copyright", "notices", "sbom":
	default:
		return fmt.Errorf("%q is not a paper; %s", args[0], usage)
	}
	info, err := buildinfo.ReadFile(o.binary)
	if err != nil {
		return fmt.Errorf("read what %s was built of: %w", o.binary, err)
	}
	modules, err := linked(ctx, info)
	if err != nil {
		return err
	}
	packages, err := embedded(o.vendored)
	if err != nil {
		return err
	}
	modules = append(modules, packages...)
	switch args[0] {
	case "copyright":
		return writeCopyright(w, o, modules)
	case "notices":
		return writeNotices(w, modules)
	default:
		return writeSBOM(w, o, info, modules)
	}
}
