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

// signedToken is the JSON of token sign.
type signedToken struct {
	Token    string    `json:"token"`
	Role     string    `json:"role"`
	ClientID string    `json:"client_id"`
	Expires  time.Time `json:"expires_at"`
}

func (p *program) newTokenCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "token", Short: "Make tokens for the tenant's HTTP API, and keys for its database", Args: needsSubcommand, RunE: showHelp}
	cmd.AddCommand(p.newTokenAddCommand(), p.newTokenListCommand(), p.newTokenRemoveCommand(), p.newTokenSignCommand())
	return cmd
}

func (p *program) newTokenSignCommand() *cobra.Command {
	var out format
	var role string
	expires := ageFlag(24 * time.Hour)
	cmd := &cobra.Command{
		Use: "sign", Short: "Make a PostgREST key for the tenant's readers or its worker",
		Long: `sign makes a key (a JWT) for the tenant with the project's JWT secret, SUPABASE_JWT_SECRET, and prints
only the key on standard output. The role reader reads the tenant's documents, jobs and results, as a frontend
does; the role worker is for SUPABASE_KEY of the tenant's worker. A key can't be revoked before it expires,
except by changing the secret, which revokes all keys.

The secret comes from a file (SUPABASE_JWT_SECRET_FILE) or the environment, never from a flag. It can make keys
for every tenant: keep it off the workers' machines, unless their HTTP API verifies users with it (docs/api.md).`,
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
				return badUsage("give 1m to 3650d", "--expires %v is out of range", life)
			}
			return p.signToken(cmd, role, life, out)
		}),
	}
	cmd.Flags().StringVar(&role, "role", "", "what the key may do: reader or worker")
	cmd.Flags().Var(&expires, "expires",
		"how long the key is valid, e.g. 90m, 12h or 365d; 1m to 3650d (default 24h)")
	// the flag exists
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
			"--role is missing")
	}
	return "", badUsage("give reader or worker", "--role %q is not a tenant's role", name)
}

func (p *program) signToken(cmd *cobra.Command, role string, life time.Duration, out format) error {
	cfg, _, err := p.settings(cmd, config.Tenant)
	if err != nil {
		return err
	}
	if !cfg.Given("CLIENT_ID") {
		return p.unsetTenant(cmd)
	}
	secret, err := config.SigningSecret(p.sources(cmd), tenantkey.MinSecret)
	if err != nil {
		return err
	}
	now := time.Now()
	m := signedToken{Role: role, ClientID: cfg.ClientID, Expires: now.Add(life).UTC().Truncate(time.Second)}
	if m.Token, err = tenantkey.Sign(secret.Reveal(), tenantkey.Claims{
		Role: role, ClientID: m.ClientID, From: now,
		Until: m.Expires,
	}); err != nil {
		return err
	}
	if role == tenantkey.Worker {
		printWrapped(p.stderr, "warning: ", fmt.Sprintf(
			"until %s this key reads and writes all jobs, documents and webhooks of %s. Use it only for the worker; "+
				"to read, use --role reader", m.Expires.Format(time.RFC3339), m.ClientID))
	}
	if out == asJSON {
		return printJSON(p.stdout, m)
	}
	_, err = fmt.Fprintln(p.stdout, m.Token)
	return err
}

// unsetTenant is a key for no tenant: the settings in the environment name none, or the machine has none.
func (p *program) unsetTenant(cmd *cobra.Command) error {
	next := "give --client-id, or --tenant on the tenant's machine"
	if root, err := cmd.Flags().GetString("root"); err == nil && !p.namesServices() {
		if names, err := tenantNames(root); err == nil && len(names) == 0 {
			next = "give --client-id; " + nextNoTenant
		}
	}
	return badUsage(next, "the key's tenant is not set")
}
