package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEnqueueUploads(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a.md", "b.csv"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("content of "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o, bucket := office(&rows{})
	a, b := filepath.Join(dir, "a.md"), filepath.Join(dir, "b.csv")
	r := invoke(t, o, testEnv(), "", "enqueue", "--upload", a, "--upload", b, "--document-set", "s")
	r.want(t, exitOK, "uploaded "+a+" as a.md")
	if strings.Count(r.out, "\n") != 2 || bucket.blobs["a.md"] != "content of a.md" ||
		bucket.blobs["b.csv"] != "content of b.csv" {
		t.Errorf("printed %q, kept %v", r.out, bucket.blobs)
	}
	invoke(t, o, testEnv(), "", "enqueue", "--upload", a, "--filename", "Report.md", "--blob", "x/1.md",
		"--document-set", "s", "-o", "json").want(t, exitOK, `"blob": "x/1.md"`)
	if bucket.blobs["x/1.md"] == "" {
		t.Errorf("kept %v", bucket.blobs)
	}
	var payloads []string
	for _, m := range delivered(t, o) {
		payloads = append(payloads, string(m.Payload))
	}
	want := `{"document_set":"s","filename":"a.md"} {"document_set":"s","filename":"b.csv"} {"blob":"x/1.md","document_set":"s","filename":"Report.md"}`
	if got := strings.Join(payloads, " "); got != want {
		t.Errorf("payloads %s, want %s", got, want)
	}
	invoke(t, o, testEnv(), "", "enqueue", "--upload", dir, "--document-set", "s").want(t, exitUsage,
		"not a regular file")
	before := len(delivered(t, o))
	invoke(t, o, testEnv(), "", "enqueue", "--upload", a, "--upload", a+"x", "--document-set", "s").want(t, exitFailed,
		"check the path")
	if after := len(delivered(t, o)); after != before {
		t.Errorf("a task was sent although another document is missing")
	}
}

// Two documents can't have one name in the container: the second would replace the first, before a worker reads it.
func TestEnqueueUploadsOfOneName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b := filepath.Join(dir, "2025/report.md"), filepath.Join(dir, "2026/report.md")
	write(t, a, "the old one")
	write(t, b, "the new one")
	for _, more := range [][]string{nil, {"--payload", `{"filename":"all.md"}`}, {"--payload", `{"blob":"x/1.md"}`}} {
		o, bucket := office(&rows{})
		args := append([]string{"enqueue", "--document-set", "s", "--upload", a, "--upload", b}, more...)
		invoke(t, o, testEnv(), "", args...).want(t, exitUsage, a, b, "--filename")
		if len(bucket.blobs) > 0 || len(delivered(t, o)) > 0 {
			t.Errorf("%q: kept %v", more, bucket.blobs)
		}
	}
	o, bucket := office(&rows{})
	invoke(t, o, testEnv(), "", "enqueue", "--document-set", "s", "--upload", a, "--upload", a).want(t, exitOK)
	if len(bucket.blobs) != 1 || len(delivered(t, o)) != 2 {
		t.Errorf("the same file twice: kept %v", bucket.blobs)
	}
}

// What was submitted before a task was refused is printed, for the program that reads the JSON.
func TestEnqueueFailsAfterSome(t *testing.T) {
	t.Parallel()
	const message = `{"task_id":"%s","task_type":"ingest","payload":{"filename":"%s.pdf","document_set":"s"}}`
	dir := t.TempDir()
	args := []string{"enqueue", "-o", "json"}
	for i, m := range [][2]string{{"t-1", "a"}, {"t-2", "b"}, {"t-1", "c"}} {
		path := filepath.Join(dir, fmt.Sprint(i))
		write(t, path, fmt.Sprintf(message, m[0], m[1]))
		args = append(args, path)
	}
	o, _ := office(&rows{})
	r := invoke(t, o, testEnv(), "", args...)
	r.want(t, exitFailed, "another payload")
	var sent []enqueued
	if err := json.Unmarshal([]byte(r.out), &sent); err != nil || len(sent) != 2 || sent[0].ID != "t-1" || sent[1].ID != "t-2" {
		t.Errorf("printed %q, %v", r.out, err)
	}
	if r := invoke(t, o, testEnv(), "", args[0], args[1], args[2], args[3], args[5]); strings.Count(r.out, `"id"`) != 1 {
		t.Errorf("printed %q", r.out)
	}
}
