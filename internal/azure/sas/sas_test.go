package sas_test

import (
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/azure/sas"
)

// The forms of a signature's end (learn.microsoft.com/azure/storage/common/formatting-datetime-values).
func TestEnd(t *testing.T) {
	t.Parallel()
	day := time.Date(2027, 1, 2, 0, 0, 0, 0, time.UTC)
	for signature, want := range map[string]time.Time{
		"?sv=2024&se=2027-01-02":               day,
		"sv=2024&se=2027-01-02T03%3A04Z&sig=x": day.Add(3*time.Hour + 4*time.Minute),
		"se=2027-01-02T03:04:05Z":              day.Add(3*time.Hour + 4*time.Minute + 5*time.Second),
		"se=2027-01-02T03:04:05.0000000Z":      day.Add(3*time.Hour + 4*time.Minute + 5*time.Second),
		"si=policy&sig=x":                      {}, "se=soon": {}, "": {},
	} {
		values, err := sas.Parse(signature)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := sas.End(values); !got.Equal(want) || ok == want.IsZero() {
			t.Errorf("%s: %v, %t, want %v", signature, got, ok, want)
		}
	}
}
