package cli

import (
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/event"
	"github.com/seed-7227ef26/async-worker/internal/logging"
	"github.com/seed-7227ef26/async-worker/internal/tenants"
)

// addSettings adds a flag for every setting of the groups that isn't secret. Only the help of run and check-config
// shows them all; other commands hide uncommon ones.
func addSettings(cmd *cobra.Command, groups config.Group) {
	addTenant(cmd)
	addSettingFlags(cmd, groups)
}

// addSettingFlags is addSettings for a command that has no tenant.
func addSettingFlags(cmd *cobra.Command, groups config.Group) {
	common := []string{"LOG_LEVEL", "LOG_FORMAT"}
	all := cmd.Name() == "run" || cmd.Name() == "check-config"
	for _, s := range config.Settings() {
		if s.Groups&(groups|config.Log) == 0 || s.Flag() == "" || cmd.Flags().Lookup(s.Flag()) != nil {
			continue
		}
		def := s.DefaultText()
		if s.Unit != "" {
			def += " " + s.Unit
		}
		cmd.Flags().String(s.Flag(), "", fmt.Sprintf("%s (%s; default %s)", s.Help, s.Name, def))
		_ = cmd.Flags().SetAnnotation(s.Flag(), subjectOf, []string{s.Subject()}) // the flag exists
		completeValues(cmd, s)
		if !all && !slices.Contains(common, s.Name) {
			_ = cmd.Flags().MarkHidden(s.Flag())
		}
	}
}

// load reads the settings of the groups and of logging.
func (p *program) load(cmd *cobra.Command, groups config.Group) (config.Config, error) {
	if err := p.resolveTenant(cmd, groups); err != nil {
		return config.Config{}, err
	}
	return config.Load(p.sources(cmd), groups|config.Log)
}

// sources are the sources of a command's settings.
func (p *program) sources(cmd *cobra.Command) config.Sources {
	given := map[string]string{}
	for _, s := range config.Settings() {
		if f := cmd.Flags().Lookup(s.Flag()); s.Flag() != "" && f != nil && f.Changed {
			given[s.Name] = f.Value.String()
		}
	}
	src := config.Sources{Flags: given, Environ: p.env, Files: p.envFiles, ReadFile: os.ReadFile, List: filesIn}
	if p.tenant != "" { // this process is not the worker
		src.Hidden = tenants.Hidden
		src.Shows = func(client string) bool { return tenants.Shows(p.root, client) }
	}
	return src
}

// filesIn are the names of a folder's files; none: it can't be read, which its files say.
func filesIn(dir string) (names []string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// settings loads the settings, opens the log and logs the warnings. Commands other than run log plain text, and by
// default only warnings and errors.
func (p *program) settings(cmd *cobra.Command, groups config.Group) (config.Config, *slog.Logger, error) {
	cfg, err := p.load(cmd, groups)
	if err != nil {
		return cfg, nil, err
	}
	daemon := cmd.Name() == "run"
	p.level.Set(cfg.LogLevel)
	o := logging.Options{Level: &p.level, Format: logging.Format(cfg.LogFormat), Color: p.colorful(p.stderr)}
	if !daemon && o.Format == logging.Auto {
		o.Format = logging.Text
	}
	if !daemon && !cfg.Given("LOG_LEVEL") {
		o.Level = slog.LevelWarn
	}
	log, err := logging.Open(p.stderr, o)
	if err != nil {
		return cfg, nil, err
	}
	p.redirectStandard(log)
	if daemon {
		log = p.ofUnit(log, cfg.ClientID).With("client_id", cfg.ClientID)
		log.Info("starting", event.Key, event.Started, "version", app.Version)
	}
	for _, w := range cfg.Warnings() {
		if !daemon && o.Format == logging.Text && log.Enabled(cmd.Context(), slog.LevelWarn) {
			p.printWarning(w)
			continue
		}
		log.Warn("check this setting", "setting", w.Name, "problem", w.Problem, "remedy", w.Remedy)
	}
	return cfg, log, nil
}

func (p *program) printWarning(w config.Problem) {
	printWrapped(p.stderr, "warning: ", w.Name+": "+w.Problem)
	printWrapped(p.stderr, "  remedy:  ", w.Remedy)
}

// redirectStandard gives the logger what libraries write to the standard log, if this is the process's program: others in
// the process have that log, too.
func (p *program) redirectStandard(log *slog.Logger) {
	if p.redirect != nil {
		p.redirect(log)
	}
}

func (p *program) getenv(name string) string {
	value := ""
	for _, line := range p.env {
		if v, ok := strings.CutPrefix(line, name+"="); ok {
			value = v
		}
	}
	return value
}
