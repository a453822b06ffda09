package structure

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"syscall"
	"text/tabwriter"
	"time"
)

// processor returns the processor time of this process and of its children that have ended.
func processor() (sum time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return sum
}

// Costs prints the processor time for a page of each format, children included, and pdftotext's for the same PDFs. A
// format that has no pages counts as one. Files are read one after the other.
func Costs(ctx context.Context, w io.Writer, results []Result) error {
	perPage := map[string][]time.Duration{}
	var plain []time.Duration
	for _, r := range results {
		pages := time.Duration(max(1, r.Pages))
		perPage[r.Format] = append(perPage[r.Format], r.CPU/pages)
		if r.Format != "pdf" {
			continue
		}
		cmd := exec.CommandContext(ctx, "pdftotext", r.Path, "-")
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("run pdftotext for comparison: %w", err)
		}
		plain = append(plain, (cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())/pages)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "CPU per page\tfiles\tmedian\tp95\tmost\t\n")
	row := func(name string, all []time.Duration) {
		slices.SortFunc(all, cmp.Compare)
		if n := len(all); n > 0 {
			at := func(i int) string { return fmt.Sprintf("%.1f ms", all[i].Seconds()*1000) }
			fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t\n", name, n, at(n/2), at(n*95/100), at(n-1))
		}
	}
	var formats []string
	for format := range perPage {
		formats = append(formats, format)
	}
	slices.Sort(formats)
	for _, format := range formats {
		row(format, perPage[format])
	}
	row("pdftotext", plain)
	if err := t.Flush(); err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	return nil
}
