package cli

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

func someDocuments() []store.DocumentEntry {
	return []store.DocumentEntry{
		{
			DocumentID: "id-1", DocumentSet: "one", Filename: "a.pdf", Title: "About b.pdf", Version: 3, Chunks: 7,
			State: "active", UpdatedAt: noon,
		},
		{
			DocumentID: "id-2", DocumentSet: "one", Filename: "b.pdf", Version: 1, Chunks: 2, State: "replacing",
			UpdatedAt: noon,
		},
		{
			DocumentID: "id-3", DocumentSet: "two", Filename: "b.pdf", Version: 1, State: "active",
			Warnings: []string{"3 of 3 pages have \x1b[1mno text"}, UpdatedAt: noon,
		},
	}
}

func TestDocumentsList(t *testing.T) {
	t.Parallel()
	s := &rows{documents: someDocuments()}
	list := func(args ...string) result {
		return invoke(t, app.Tenant{Store: s}, testEnv(), "", append([]string{"documents", "list"}, args...)...)
	}
	r := list()
	r.want(t, exitOK, "SET VERSION CHUNKS STATE UPDATED FILENAME", "one 3 7 active", "a.pdf", "replacing",
		"! 3 of 3 pages have [1mno text")
	if strings.Contains(r.out, "\x1b") || strings.Count(r.out, "\n") != 5 {
		t.Errorf("lists %q", r.out)
	}
	for args, want := range map[string]string{
		"--set one":                "id-1 id-2",
		"--filename b":             "id-2 id-3", // and not what has it in its title
		"--filename B":             "",
		"--filename .pdf":          "",
		"--filename b -n 1":        "id-2",
		"--set two --filename b.p": "id-3",
		"--set three":              "",
	} {
		r := list(append(strings.Fields(args), "-o", "json")...)
		var found []store.DocumentEntry
		if err := json.Unmarshal([]byte(r.out), &found); err != nil || found == nil {
			t.Errorf("%s: %v: %s", args, err, r.out)
		}
		var got []string
		for _, d := range found {
			got = append(got, d.DocumentID)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
	list("-n", "0").want(t, exitUsage, "1 to 1000")
	s.fail = store.ErrSchema
	list().want(t, exitConfig, "async-worker migrate")
}

// A name that begins so is found behind more documents than a page of the database has.
func TestDocumentsListPages(t *testing.T) {
	t.Parallel()
	s := &rows{}
	for i := range 2500 {
		s.documents = append(s.documents, store.DocumentEntry{Filename: fmt.Sprintf("%04d-report.pdf", i)})
	}
	s.documents = append(s.documents, store.DocumentEntry{Filename: "report.pdf"})
	r := invoke(t, app.Tenant{Store: s}, testEnv(), "", "documents", "list", "--filename", "report")
	r.want(t, exitOK, "report.pdf")
	if strings.Count(r.out, "\n") != 2 {
		t.Errorf("lists %q", r.out)
	}
}

func TestDocumentsDelete(t *testing.T) {
	t.Parallel()
	s := &rows{documents: someDocuments()}
	o, _ := office(s)
	del := func(args ...string) result {
		return invoke(t, o, testEnv(), "delete\n", append([]string{"documents", "delete"}, args...)...)
	}
	del("b.pdf", "--yes").want(t, exitUsage, "name the set with --set")
	del("", "--set", "one", "--yes").want(t, exitUsage, "is empty")
	del("b.pdf", "--set", "one").want(t, exitUsage, "standard input is not a terminal", "--yes")
	del("c.pdf", "--set", "one").want(t, exitFailed, `there is no document "c.pdf" in the set "one"`)
	del("c.pdf", "--set", "one", "--yes").want(t, exitFailed, `there is no document "c.pdf" in the set "one"`,
		"documents list", "what to do:")
	if got := delivered(t, o); len(got) != 0 || len(s.submitted) != 0 {
		t.Fatalf("something was sent: %+v", got)
	}
	r := del("b.pdf", "--set", "two", "--yes")
	r.want(t, exitOK)
	del("b.pdf", "--set", "one", "--yes", "--purge", "-o", "json").want(t, exitOK, `"type": "ingest"`)
	got := delivered(t, o)
	if len(got) != 2 || got[0].Type != task.Ingest ||
		string(got[0].Payload) != `{"delete":true,"document_set":"two","filename":"b.pdf"}` ||
		string(got[1].Payload) != `{"delete":true,"document_set":"one","filename":"b.pdf","purge":true}` {
		t.Errorf("messages %+v", got)
	}
	if r.out != got[0].ID+"\n" {
		t.Errorf("printed %q, want the job's id", r.out)
	}
}

// A real worker removes the document, and the list no longer shows it.
func TestDocumentsOnRealServices(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	stop, ended := serve(t, d.env)
	sample := filepath.Join("..", "..", "dev", "samples", "first-week.md")
	d.command("enqueue", "--upload", sample, "--document-set", "samples", "--watch").want(t, exitOK, "succeeded")
	d.command("documents", "list").want(t, exitOK, "samples 1 ", " active ")
	d.command("documents", "delete", "first-week.md", "--set", "samples", "--yes", "--watch").want(t, exitOK,
		"succeeded")
	if r := d.command("documents", "list", "-o", "json"); r.out != "[]\n" {
		t.Errorf("left: %+v", r)
	}
	d.command("documents", "delete", "first-week.md", "--set", "samples", "--yes").want(t, exitFailed,
		"there is no document")
	stop()
	if r := <-ended; r.code != exitOK {
		t.Errorf("run: %+v", r)
	}
}

// An empty list says why it is empty, beside the list.
func TestNoDocuments(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--set three":            "The set three has no documents",
		"--filename x --set one": "No document matches",
		"--set one":              "",
		"--set three -o json":    "",
	} {
		s := &rows{documents: someDocuments()}
		r := invoke(t, app.Tenant{Store: s}, testEnv(), "", append([]string{"documents", "list"}, strings.Fields(args)...)...)
		r.want(t, exitOK, want)
		if (r.errOut != "") != (want != "") {
			t.Errorf("%s: %q", args, r.errOut)
		}
	}
}

// The printed command, in a shell, names the same document, also if a line would break within its name.
func TestPrintedDeletionIsTheSame(t *testing.T) {
	t.Parallel()
	filename := "2026/" + strings.Repeat("the tide's table ", 9) + "(final).pdf"
	r := invoke(t, app.Tenant{Store: &rows{}}, testEnv(), "", "documents", "delete", filename, "--set", "sea charts")
	r.want(t, exitFailed, "there is no document")
	_, command, _ := strings.Cut(r.errOut, "removed by:")
	_, command, _ = strings.Cut(command, "async-worker ")
	out, err := exec.CommandContext(t.Context(), "sh", "-c", `printf '%s\0' `+command).Output()
	if want := "enqueue\x00--delete\x00--filename\x00" + filename + "\x00--document-set\x00sea charts\x00"; err != nil || string(out) != want {
		t.Errorf("%q, %v, of %s", out, err, r.errOut)
	}
}
