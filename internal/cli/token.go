package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/tenantkey"
)

const (
	minTokenLife = time.Minute
	maxTokenLife = 10 * 365 * 24 * time.Hour
)

// signedToken is what `token sign -o json` prints.
type signedToken struct {
	Token    string    `json:"token"`
	Role     string    `json:"role"`
	ClientID string    `json:"client_id"`
	Expires  time.Time `json:"expires_at"`
}

func (p *program) newTokenCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "token", Short: "Make keys of the tenant", Args: needsSubcommand, RunE: showHelp}
	cmd.AddCommand(p.newTokenSignCommand())
	return cmd
}

func (p *program) newTokenSignCommand() *cobra.Command {
	var out format
	var role string
	expires := ageFlag(24 * time.Hour)
	cmd := &cobra.Command{
		Use: "sign", Short: "Make a key of the tenant for PostgREST, to read its rows or to be its worker",
		Long: `sign makes a key (a JWT) for the tenant with the project's JWT secret, SUPABASE_JWT_SECRET, and prints it alone on
standard output. With the role reader it reads the tenant's documents, jobs and results, as a frontend does; with
the role worker it is SUPABASE_KEY of the tenant's worker. A key can't be taken back before it expires, but by
another secret, which ends all keys.

The secret comes from a file (SUPABASE_JWT_SECRET_FILE) or the environment, and never from a flag. It makes keys to
every tenant: keep it out of tenants' settings, and off the machines of workers.`,
		Example: `  SUPABASE_JWT_SECRET_FILE=jwt-secret async-worker token sign --client-id southhaven --role reader --expires 12h
  async-worker token sign --tenant southhaven --role worker --expires 365d > key`,
		Args: noArgs,
		RunE: p.action(func(cmd *cobra.Command, _ []string) error {
			role, err := tokenRole(role)
			if err != nil {
				return err
			}
			life := time.Duration(expires)
			if life < minTokenLife || life > maxTokenLife {
				return badUsage("it goes from 1m to 3650d", "--expires %v is out of range", life)
			}
			return p.signToken(cmd, role, life, out)
		}),
	}
	cmd.Flags().StringVar(&role, "role", "", "what the key may do: reader or worker")
	cmd.Flags().Var(&expires, "expires",
		"how long it is valid, such as 90m, 12h or 365d, from 1m to 3650d (default 24h)")
	// it was added just now
	_ = cmd.RegisterFlagCompletionFunc("role", cobra.FixedCompletions([]string{"reader", "worker"},
		cobra.ShellCompDirectiveNoFileComp))
	addOutput(cmd, &out)
	addSettings(cmd, config.Tenant)
	return cmd
}

func tokenRole(name string) (string, error) {
	switch name {
	case "reader":
		return tenantkey.Reader, nil
	case "worker":
		return tenantkey.Worker, nil
	case "":
		return "", badUsage("give --role reader to read the tenant's rows, --role worker for its worker",
			"nothing says what the key is for")
	}
	return "", badUsage("it is reader or worker", "--role %q is no role of a tenant", name)
}

func (p *program) signToken(cmd *cobra.Command, role string, life time.Duration, out format) error {
	cfg, _, err := p.settings(cmd, config.Tenant)
	if err != nil {
		return err
	}
	if !cfg.Given("CLIENT_ID") {
		return badUsage("say whose with --client-id, or with --tenant on its machine",
			"nothing says which tenant's key it is")
	}
	secret, err := config.SigningSecret(p.sources(cmd), tenantkey.MinSecret)
	if err != nil {
		return err
	}
	now := time.Now()
	m := signedToken{Role: role, ClientID: cfg.ClientID, Expires: now.Add(life).UTC().Truncate(time.Second)}
	if m.Token, err = tenantkey.Sign(secret.Reveal(), tenantkey.Claims{Role: role, ClientID: m.ClientID, From: now,
		Until: m.Expires}); err != nil {
		return err
	}
	if role == tenantkey.Worker {
		printWrapped(p.stderr, "warning: ", fmt.Sprintf(
			"until %s this key reads and writes all jobs, documents and webhooks of %s. It is for its worker alone: "+
				"who reads takes --role reader", m.Expires.Format(time.RFC3339), m.ClientID))
	}
	if out == asJSON {
		return printJSON(p.stdout, m)
	}
	_, err = fmt.Fprintln(p.stdout, m.Token)
	return err
}
