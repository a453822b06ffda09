package config_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-7227ef26/async-worker/internal/config"
)

// However a Secret is printed, its text does not appear.
func TestSecretNeverPrints(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[A-Za-z0-9+/]{12,40}`).Draw(t, "text")
		verb := rapid.SampledFrom([]string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T%v"}).Draw(t, "verb")
		s := config.NewSecret(text)
		type wrapped struct {
			Public  config.Secret
			private config.Secret
			nested  struct{ pointer *config.Secret }
		}
		w := wrapped{Public: s, private: s}
		w.nested.pointer = &s
		var log bytes.Buffer
		slog.New(slog.NewJSONHandler(&log, nil)).Info("m", "s", s, "w", w)
		slog.New(slog.NewTextHandler(&log, nil)).Info("m", "s", s, "w", w)
		b, err := json.Marshal(map[string]any{"s": s, "w": w, "map": map[config.Secret]int{s: 1}})
		if err != nil {
			t.Fatal(err)
		}
		for _, out := range []string{
			fmt.Sprintf(verb, s), fmt.Sprintf(verb, w), fmt.Sprintf(verb, &w), fmt.Sprintf(verb, []config.Secret{s}),
			fmt.Sprint(s, w), fmt.Errorf("x: %v", s).Error(), log.String(), string(b),
		} {
			if leaks(out, text) {
				t.Fatalf("leaked in %q", out)
			}
		}
		if s.Reveal() != text {
			t.Fatal("Reveal")
		}
	})
}

func leaks(out, secret string) bool {
	return strings.Contains(out, secret) || strings.Contains(strings.ToLower(out), fmt.Sprintf("%x", secret))
}

// Whatever is wrong with the settings, no message and no table shows a secret, not even one that was pasted into the
// wrong variable.
func TestNoSecretInMessages(t *testing.T) {
	t.Parallel()
	const core = "S3cr3tCoreNobodyMaySee"
	shapes := []string{
		core, "whsec_" + core, "postgres://user:" + core + "@host:99999/db",
		"postgres://user:" + core + "@host/db?x=%zz", "host=h password=" + core,
		"AccountName=a;AccountKey=" + core + "!", "AccountName=a;AccountKey=" + core + "AA==",
		"https://user:" + core + "@host", "sb_publishable_" + core,
		"eyJh." + core + ".x", "https://host/?key=" + core, core + ";x", "x\n" + core + "=",
	}
	rapid.Check(t, func(t *rapid.T) {
		var env []string
		for _, s := range config.Settings() {
			// Without a marker, a short password in a public setting can't be told from a value.
			if rapid.Bool().Draw(t, "set "+s.Name) {
				choices := shapes
				if !s.Secret {
					choices = shapes[2:8:8]
				}
				env = append(env, s.Name+"="+rapid.SampledFrom(choices).Draw(t, s.Name))
			}
		}
		c, err := config.Load(config.Sources{Environ: env}, config.All|config.Database)
		out := fmt.Sprintf("%v %+v %#v %v", err, c.Warnings(), c, c.Effective())
		b, _ := json.Marshal(struct {
			C config.Config
			R []config.Row
		}{c, c.Effective()})
		if strings.Contains(out+string(b), core) {
			t.Fatalf("leaked: %s %s", out, b)
		}
	})
}

func TestUnsetSecret(t *testing.T) {
	t.Parallel()
	s := config.NewSecret("")
	if s.IsSet() || s.Reveal() != "" || fmt.Sprintf("%v%#v", s, s) != "" {
		t.Errorf("%v", s)
	}
}
