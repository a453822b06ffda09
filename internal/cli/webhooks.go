package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/spf13/cobra"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/webhook"
	"github.com/seed-7227ef26/async-worker/webhook/signing"
)

const (
	maxListenBody = 1 << 20 // bytes of a webhook
	listenTimeout = 10 * time.Second
)

func (p *program) newWebhooksCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "webhooks", Short: "Show, resend and try out webhooks", Args: needsSubcommand, RunE: showHelp,
	}
	cmd.AddCommand(p.newWebhooksListCommand(), p.newWebhooksResendCommand(), p.newWebhooksListenCommand())
	return cmd
}

func (p *program) newWebhooksListenCommand() *cobra.Command {
	var out format
	addr, answer := "127.0.0.1:0", http.StatusNoContent
	const groups = config.Webhooks
	cmd := &cobra.Command{
		Use: "listen", Short: "Receive webhooks on this machine, verify their signatures and print them",
		Long: `listen receives webhooks for a trial. It prints the address for a task's webhook_url, then each webhook
with its id, the result of checking its signature against WEBHOOK_SECRET, and its body, until Ctrl-C. A worker
calls a private address only if WEBHOOK_ALLOW_CIDRS allows it, e.g. 127.0.0.0/8.`,
		Example: `  async-worker webhooks listen --addr 127.0.0.1:8099
  async-worker webhooks listen --answer 503                 see how a delivery is retried
  async-worker webhooks listen -o json | jq .body.task_id`,
		Args: noArgs,
		RunE: p.action(func(cmd *cobra.Command, _ []string) error {
			if answer < 200 || answer > 599 {
				return badUsage("give 200 to 599", "--answer %d is not a status", answer)
			}
			cfg, _, err := p.settings(cmd, groups)
			if err != nil {
				return err
			}
			r, err := newListener(cfg.Webhook.Secret.Reveal(), answer, p.stdout, out)
			if err != nil {
				return err
			}
			return p.listen(cmd.Context(), r, addr, cfg)
		}),
	}
	cmd.Flags().StringVar(&addr, "addr", addr, "where to listen, HOST:PORT; port 0: a free one")
	cmd.Flags().IntVar(&answer, "answer", answer, "the status of the answers, 200 to 599")
	addOutput(cmd, &out)
	addSettings(cmd, groups)
	return cmd
}

// listen serves until ctx is done.
func (p *program) listen(ctx context.Context, r *listener, addr string, cfg config.Config) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return badUsage("choose another --addr; port 0 is a free one", "can't listen at %s: %w", addr, err)
	}
	server := &http.Server{
		Handler: r, ReadTimeout: listenTimeout, WriteTimeout: listenTimeout, MaxHeaderBytes: 16 << 10,
	}
	stopped := context.AfterFunc(ctx, func() { _ = server.Close() }) // senders retry requests in flight
	defer stopped()
	fmt.Fprintf(p.stderr, "webhook_url: http://%s/\n", l.Addr())
	if len(r.secrets) == 0 {
		fmt.Fprintln(p.stderr, "WEBHOOK_SECRET is not set here: signatures are not verified")
	}
	if len(cfg.Webhook.AllowCIDRs) == 0 {
		fmt.Fprintln(p.stderr, "to call this address, the worker needs WEBHOOK_ALLOW_CIDRS=127.0.0.0/8")
	}
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil // ended by Ctrl-C
}

// listener prints webhooks.
type listener struct {
	secrets []*standardwebhooks.Webhook
	answer  int
	out     format

	mu sync.Mutex
	w  io.Writer
}

func newListener(secrets string, answer int, w io.Writer, out format) (*listener, error) {
	l := &listener{answer: answer, out: out, w: w}
	for _, secret := range signing.Split(secrets) {
		verify, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			return nil, errors.New("WEBHOOK_SECRET can't be used; give the worker's: async-worker check-config explains it") // err may quote it
		}
		l.secrets = append(l.secrets, verify)
	}
	return l, nil
}

// receivedWebhook is the JSON of a webhook.
type receivedWebhook struct {
	At        time.Time       `json:"at"`
	ID        string          `json:"webhook_id"`
	Path      string          `json:"path"`
	Signature string          `json:"signature"` // good, bad, none, or unchecked: no secret is set
	Answer    int             `json:"answer"`
	Body      json.RawMessage `json:"body,omitempty"`
	Text      string          `json:"text,omitempty"` // a body that is not JSON
}

func (l *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxListenBody))
	if err != nil {
		l.print(receivedWebhook{
			At: time.Now(), ID: r.Header.Get(webhook.HeaderID), Path: r.URL.Path, Signature: "unchecked",
			Answer: http.StatusBadRequest, Text: "(the body is cut off, or longer than 1 MiB)",
		})
		http.Error(w, "the body is cut off, or longer than 1 MiB; send it whole", http.StatusBadRequest)
		return
	}
	got := receivedWebhook{
		At: time.Now(), ID: r.Header.Get(webhook.HeaderID), Path: r.URL.Path, Signature: l.verify(r.Header, body),
		Answer: l.answer,
	}
	if got.Signature == "bad" || got.Signature == "none" && len(l.secrets) > 0 {
		got.Answer = http.StatusUnauthorized
	}
	if json.Valid(body) {
		got.Body = body
	} else {
		got.Text = string(body)
	}
	l.print(got)
	w.WriteHeader(got.Answer)
}

func (l *listener) verify(h http.Header, body []byte) string {
	switch {
	case h.Get(webhook.HeaderSignature) == "":
		return "none"
	case len(l.secrets) == 0:
		return "unchecked"
	}
	for _, s := range l.secrets {
		if s.Verify(body, h) == nil {
			return "good"
		}
	}
	return "bad"
}

func (l *listener) print(got receivedWebhook) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.out == asJSON {
		_ = printJSONLine(l.w, got) // nothing can be done when the output is gone
		return
	}
	var about struct {
		Type   string `json:"type"`
		TaskID string `json:"task_id"`
	}
	_ = json.Unmarshal(got.Body, &about) // other senders' bodies may have any shape
	printWrapped(l.w, got.At.Format(time.TimeOnly)+"  ", printable(fmt.Sprintf("%s  %s  %s  signature: %s  answered: %d",
		got.ID, about.Type, about.TaskID, got.Signature, got.Answer)))
	text := got.Text
	if got.Body != nil {
		if pretty, err := json.MarshalIndent(got.Body, "  ", "  "); err == nil {
			text = string(pretty)
		}
	}
	fmt.Fprintln(l.w, "  "+printableLines(text))
}
