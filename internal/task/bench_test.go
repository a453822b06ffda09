package task_test

import (
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/task"
)

// BenchmarkDecode is what each message costs before anything else.
func BenchmarkDecode(b *testing.B) {
	for name, text := range map[string]string{
		"small": `{"task_id":"noop.1","task_type":"noop","payload":{"i":1}}`, "all fields": whole,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := task.Decode(text, ours); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkFingerprint is what a task costs once more when it begins.
func BenchmarkFingerprint(b *testing.B) {
	t := wholeTask()
	b.ReportAllocs()
	for b.Loop() {
		task.Fingerprint(t)
	}
}
