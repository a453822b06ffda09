package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/dashboard"
	"github.com/seed-7227ef26/async-worker/internal/front"
	"github.com/seed-7227ef26/async-worker/internal/httpd"
	"github.com/seed-7227ef26/async-worker/internal/httpurl"
	"github.com/seed-7227ef26/async-worker/internal/logging"
	"github.com/seed-7227ef26/async-worker/systemd"
)

// frontFlags are those of front.
type frontFlags struct {
	addr, runtime string
	tenants       []string
}

func (p *program) newFrontCommand() *cobra.Command {
	var f frontFlags
	cmd := &cobra.Command{
		Use:   "front",
		Short: "Serve the HTTP APIs of all tenants of this machine on one address",
		Long: `front is an HTTP proxy: it hands /t/CLIENT/… to the socket of that client's worker, without the prefix. It
has no settings and no key of a tenant. The worker authorizes each request by its own token, as over TCP.
While a worker restarts, its tenant's requests are answered with 502 and Retry-After.

It has no TLS: listen on a loopback address behind a proxy that has. Under systemd it is the unit
async-worker-front.service, and /etc/default/async-worker-front sets FRONT_ADDR and FRONT_TENANTS.`,
		Example: `  systemctl enable --now async-worker-front
  curl -H "Authorization: Bearer $TOKEN" http://127.0.0.1:8088/t/southhaven/v1/jobs`,
		Args: noArgs,
		RunE: p.action(func(cmd *cobra.Command, _ []string) error {
			p.daemon = true
			cfg, err := config.Load(p.sources(cmd), config.Log)
			if err != nil {
				return err
			}
			p.level.Set(cfg.LogLevel)
			log, err := logging.Open(p.stderr, logging.Options{
				Level: &p.level, Format: logging.Format(cfg.LogFormat), Color: p.colorful(p.stderr),
			})
			if err != nil {
				return err
			}
			p.redirectStandard(log)
			return serveFront(cmd.Context(), f, log)
		}),
	}
	cmd.Flags().StringVar(&f.addr, "addr", "127.0.0.1:8088", "listen on this TCP address, HOST:PORT")
	cmd.Flags().StringSliceVar(&f.tenants, "tenants", nil, "serve these tenants, separated by commas; default: each one "+
		"that has had a folder in --runtime since the start")
	cmd.Flags().StringVar(&f.runtime, "runtime", filepath.Dir(filepath.Dir(app.SocketOf("x"))),
		"the folder with a folder for each tenant, which has the socket of its worker")
	addSettingFlags(cmd, config.Log)
	return cmd
}

// serveFront serves until ctx is done, which is a success.
func serveFront(ctx context.Context, o frontFlags, log *slog.Logger) error {
	f, err := front.New(front.Config{
		Runtime: o.runtime, Socket: app.SocketName, Tenants: o.tenants, Strangers: app.OfStrangers, Log: log,
		Files: dashboard.Files(), FilesPath: dashboard.FilesPath,
		List: func(w http.ResponseWriter, r *http.Request, all []front.Tenant) {
			var shown []dashboard.Listed
			for _, t := range all {
				shown = append(shown, dashboard.Listed{Name: t.Name, State: string(t.State)})
			}
			dashboard.List(w, r, shown)
		},
	})
	if err != nil {
		return badUsage("give the names of tenants: async-worker tenant list", "--tenants: %v", err)
	}
	if host, _, err := net.SplitHostPort(o.addr); err != nil {
		return badUsage("give HOST:PORT, such as 127.0.0.1:8088", "--addr %q is not an address", o.addr)
	} else if !httpurl.Loopback(host) {
		log.Warn("tokens travel unencrypted over http; use a trusted network, or a loopback address behind a proxy with TLS",
			"address", o.addr)
	}
	server, err := httpd.Listen(ctx, httpd.Config{
		Addr: o.addr, Handler: f, Own: func(*http.Request) bool { return true }, Open: front.Probes, Log: log,
		Requests: front.AllRequests, Streams: front.AllStreams, Strangers: f.OfStrangers,
	})
	if err != nil {
		if e, ok := errors.AsType[*httpd.AddrError](err); ok {
			err = e.Unwrap() // its sentence names the worker's setting
		}
		return &listenError{o.addr, err}
	}
	n := f.Look()
	log.Info("ready", "address", server.Addrs()[0].String(), "tenants", n)
	var notifier systemd.Notifier
	if err := notifier.Ready(fmt.Sprintf("serving %s; %d tenants at the start", server.Addrs()[0], n)); err != nil {
		log.Warn("can't notify systemd", "error", err)
	}
	return server.Run(ctx)
}
