package app

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/doctor"
	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
)

// TestDoctorAsksWhatReadsPages: the model for pages and the detector of personal data are asked as the worker does, each with
// its own address, key and name.
func TestDoctorAsksWhatReadsPages(t *testing.T) {
	t.Parallel()
	model := llmtest.New(t, llmtest.Options{})
	analyzer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/analyze":
			_, _ = io.WriteString(w, "[[]]")
		case "/supportedentities":
			_, _ = io.WriteString(w, map[string]string{"en": `["PERSON","PHONE_NUMBER"]`, "de": `["DE_TAX_ID"]`}[r.FormValue("language")])
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(analyzer.Close)
	right := func(c *config.Config) {
		c.ClientID = "acme"
		c.OCREngine, c.OCR = config.OCROpenAI, config.OCR{BaseURL: model.URL(), APIKey: config.NewSecret(llmtest.Key)}
		c.PII = config.PII{Mode: config.PIIRedact, DetectorURL: analyzer.URL, DetectorLanguages: []string{"en"}}
	}
	for name, tt := range map[string]struct {
		change          func(*config.Config)
		pages, personal doctor.State
		class           doctor.Class // of what failed
		seen            string       // in it
	}{
		"right": {func(*config.Config) {}, doctor.OK, doctor.OK, "", ""},
		"off": {func(c *config.Config) {
			c.OCREngine, c.PII.Mode = config.OCRTesseract, config.PIIOff
		}, doctor.Skipped, doctor.Skipped, "", ""},
		"no detector": {func(c *config.Config) { c.PII.DetectorURL = "" }, doctor.OK, doctor.Skipped, "", ""},
		"a wrong key": {func(c *config.Config) {
			c.OCR.APIKey = config.NewSecret("x")
		}, doctor.Fail, doctor.OK, doctor.Permission, "OCR_API_KEY"},
		"no service": {func(c *config.Config) {
			c.OCR.BaseURL = "http://127.0.0.1:1/v1"
		}, doctor.Fail, doctor.OK, doctor.Unavailable, "OCR_BASE_URL"},
		"not a detector": {func(c *config.Config) {
			c.PII.DetectorURL += "/x"
		}, doctor.OK, doctor.Fail, doctor.Unavailable, "PII_DETECTOR_URL"},
		"kinds that are found": {func(c *config.Config) {
			c.PII.Kinds, c.PII.DetectorLanguages = []string{"EMAIL", "NATIONAL_ID", "PERSON"}, []string{"de", "en"}
		}, doctor.OK, doctor.OK, "", ""},
		"a kind that nothing finds": {func(c *config.Config) {
			c.PII.Kinds = []string{"EMAIL", "PERSON", "LOCATION"}
		}, doctor.OK, doctor.Fail, doctor.Config, "nothing finds LOCATION, of"},
		"a language without kinds": {func(c *config.Config) {
			c.PII.Kinds, c.PII.DetectorLanguages = []string{"PERSON"}, []string{"en", "fr"}
		}, doctor.OK, doctor.Warn, "", ""},
		"the account of chat": {func(c *config.Config) {
			c.OCR = config.OCR{}
		}, doctor.Fail, doctor.OK, doctor.Permission, "OPENAI_API_KEY"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := modelConfig(func(c *config.Config) { c.OpenAI.BaseURL = model.URL(); right(c); tt.change(c) })
			r := Doctor(t.Context(), DoctorOptions{
				Load: func(config.Group) (config.Config, error) { return cfg, nil },
				Skip: slices.DeleteFunc(doctor.Groups(), func(g doctor.Group) bool { return g == doctor.Models || g == doctor.Privacy }),
			})
			for check, want := range map[string]doctor.State{"OCR model": tt.pages, "personal data": tt.personal} {
				i := slices.IndexFunc(r.Results, func(r doctor.Result) bool { return r.Check == check })
				if i < 0 || r.Results[i].State != want || want == doctor.Fail &&
					(r.Results[i].Class != tt.class || !strings.Contains(r.Results[i].Seen+r.Results[i].Remedy, tt.seen)) {
					t.Errorf("%s: %+v, want %s", check, r.Results[max(i, 0)], want)
				}
			}
		})
	}
}
