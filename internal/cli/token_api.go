package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/apitoken"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/tenants"
)

// tokensName is the setting with the tokens' entries.
const tokensName = "API_TOKENS"

// apiTokens are the flags of the commands for tokens of the HTTP API.
type apiTokens struct {
	root, tenant, scope string
	print               bool
	out                 format
}

// listedToken is the JSON of token list.
type listedToken struct {
	Name  string `json:"name"`
	Scope string `json:"scope"`
}

// addedToken is the JSON of token add.
type addedToken struct {
	listedToken
	Token string `json:"token"`           // shown this once
	Entry string `json:"entry,omitempty"` // with --print
	Next  string `json:"next,omitempty"`  // the command that puts it in force
}

func (o *apiTokens) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.tenant, "tenant", "", "the tenant of this machine; default: the only one")
	_ = cmd.RegisterFlagCompletionFunc("tenant", completeTenants) // the flag exists
	addRoot(cmd, &o.root)
	addOutput(cmd, &o.out)
}

func (p *program) newTokenAddCommand() *cobra.Command {
	var o apiTokens
	cmd := &cobra.Command{
		Use: "add NAME", Short: "Make a token for the tenant's HTTP API",
		Long: `add makes a token with which a program calls the tenant's HTTP API, and prints it once, on standard output.
The tenant's credentials keep only its hash. The name is in the audit, and is the requester of the token's jobs.
Entries of API_TOKENS in an environment file or in API_TOKENS_FILE are taken over into the credentials.

The scope read sees jobs, documents and results; submit also submits and cancels jobs; operate also retries,
replays and deletes. With --print nothing is written: the entry for the setting API_TOKENS is printed, too.`,
		Example: `  sudo async-worker token add frontend --scope submit --tenant southhaven > token
  async-worker token add frontend --scope submit --print`,
		Args: oneArg("the NAME of the token"),
		RunE: p.action(func(cmd *cobra.Command, args []string) error { return p.addAPIToken(cmd.Context(), args[0], &o) }),
	}
	cmd.Flags().StringVar(&o.scope, "scope", "", "what it may do: read, submit or operate")
	cmd.Flags().BoolVar(&o.print, "print", false, "print the entry for API_TOKENS, and write nothing")
	// the flag exists
	_ = cmd.RegisterFlagCompletionFunc("scope", cobra.FixedCompletions([]string{"read", "submit", "operate"},
		cobra.ShellCompDirectiveNoFileComp))
	o.flags(cmd)
	return cmd
}

func (p *program) addAPIToken(ctx context.Context, name string, o *apiTokens) error {
	scope, ok := apitoken.ParseScope(o.scope)
	if !ok {
		return badUsage("give --scope read, submit or operate", "--scope %q is not a scope", o.scope)
	}
	text, token, err := apitoken.New(name, scope)
	if err != nil {
		return badUsage("give a name such as frontend", "%v", err)
	}
	added := addedToken{listedToken: listedToken{name, scope.String()}, Token: text}
	if o.print {
		added.Entry = token.String()
	} else if added.Next, err = p.changeTokens(ctx, o, func(all []apitoken.Token) ([]apitoken.Token, error) {
		if slices.ContainsFunc(all, func(t apitoken.Token) bool { return t.Name == name }) {
			return nil, badUsage("choose another name, or remove it first: async-worker token remove "+name+" --tenant "+o.tenant,
				"there is a token %q", name)
		}
		return append(all, token), nil
	}); err != nil {
		return err
	}
	if o.out == asJSON {
		return printJSON(p.stdout, added)
	}
	if o.print {
		fmt.Fprintf(p.stderr, "the entry for %s; the token follows:\n%s\n", tokensName, added.Entry)
	}
	p.printNext(added.Next)
	_, err = fmt.Fprintln(p.stdout, added.Token)
	return err
}

// printNext prints the command that puts a change in force, beside the output.
func (p *program) printNext(next string) {
	if next != "" {
		fmt.Fprintf(p.stderr, "next: %s\n", next)
	}
}

func (p *program) newTokenListCommand() *cobra.Command {
	var o apiTokens
	cmd := &cobra.Command{
		Use: "list", Short: "List the tokens of the tenant's HTTP API", Args: noArgs,
		RunE: p.action(func(_ *cobra.Command, _ []string) error {
			return onMachine(o.root, func(m *tenants.Machine) error {
				if err := p.chooseTenant(m, &o); err != nil {
					return err
				}
				all, err := tokensOf(m, o)
				if err != nil {
					return err
				}
				listed := []listedToken{}
				var rows [][]string
				for _, t := range all {
					listed = append(listed, listedToken{t.Name, t.Scope.String()})
					rows = append(rows, []string{t.Name, t.Scope.String()})
				}
				if o.out == asJSON {
					return printJSON(p.stdout, listed)
				}
				return table(p.stdout, []string{"NAME", "SCOPE"}, rows)
			})
		}),
	}
	o.flags(cmd)
	return cmd
}

func (p *program) newTokenRemoveCommand() *cobra.Command {
	var o apiTokens
	cmd := &cobra.Command{
		Use: "remove NAME", Short: "Take a token of the tenant's HTTP API away", Args: oneArg("the NAME of the token"),
		RunE: p.action(func(cmd *cobra.Command, args []string) error {
			next, err := p.changeTokens(cmd.Context(), &o, func(all []apitoken.Token) ([]apitoken.Token, error) {
				left := slices.DeleteFunc(slices.Clone(all), func(t apitoken.Token) bool { return t.Name == args[0] })
				if len(left) == len(all) {
					return nil, &failure{
						"remove the token", "async-worker token list --tenant " + o.tenant + " shows the tokens",
						&notFoundError{fmt.Errorf("there is no token %q", printable(args[0]))},
					}
				}
				return left, nil
			})
			if err != nil {
				return err
			}
			if o.out == asJSON {
				return printJSON(p.stdout, map[string]string{"removed": args[0], "next": next})
			}
			fmt.Fprintf(p.stdout, "removed %s; it is refused once the worker was restarted\n", printable(args[0]))
			p.printNext(next)
			return nil
		}),
	}
	o.flags(cmd)
	return cmd
}

// chooseTenant makes the machine's only tenant the default, as for the other commands: not if the environment has
// settings, which may be those of a worker without a package.
func (p *program) chooseTenant(m *tenants.Machine, o *apiTokens) error {
	if o.tenant != "" {
		return nil
	}
	const unpackaged = "; a worker without a package has its tokens in API_TOKENS, and " +
		"async-worker token add NAME --scope SCOPE --print makes an entry"
	if p.hasServices() {
		return badUsage("give --tenant NAME"+unpackaged, "the token's tenant is not set")
	}
	names, err := m.Names()
	if err != nil {
		return err
	}
	switch len(names) {
	case 0:
		return badUsage(nextNoTenant+unpackaged, "the token's tenant is not set")
	case 1:
		o.tenant = names[0]
		return nil
	}
	return severalTenants(names)
}

// tokensOf reads the entries of a tenant's tokens, wherever its worker finds them.
func tokensOf(m *tenants.Machine, o apiTokens) ([]apitoken.Token, error) {
	if err := checkTenantName(o.tenant); err != nil {
		return nil, err
	}
	exists, err := m.Exists(o.tenant)
	if err == nil && !exists {
		err = &failure{
			"look at the tokens of tenant " + o.tenant, "sudo async-worker tenant add " + o.tenant +
				" adds it; for a worker without a package: async-worker token add NAME --scope SCOPE --print makes an entry of API_TOKENS",
			&unknownTenantError{o.tenant, filepath.Join(o.root, tenantsDir)},
		}
	}
	if err != nil {
		return nil, err
	}
	text, err := m.Value(o.tenant, tokensName)
	if err != nil {
		return nil, err
	}
	all, err := apitoken.Parse(text.Reveal())
	if err != nil {
		return nil, fmt.Errorf("%s of %s: %w", tokensName, o.tenant, err)
	}
	return all, nil
}

// changeTokens changes the entries of a tenant's tokens, and returns the command that puts the change in force.
func (p *program) changeTokens(
	ctx context.Context, o *apiTokens, change func([]apitoken.Token) ([]apitoken.Token, error),
) (next string, err error) {
	err = changeMachine(o.root, func(m *tenants.Machine) error {
		if err := p.chooseTenant(m, o); err != nil {
			return err
		}
		var added tenants.Added
		err := m.Exclusive(func() (err error) { added, err = writeTokens(m, *o, change); return err })
		if err != nil {
			return err
		}
		next = p.afterAdd(ctx, m, o.root, added)
		return nil
	})
	return next, err
}

// writeTokens reads the entries, changes them, and writes them.
func writeTokens(
	m *tenants.Machine, o apiTokens, change func([]apitoken.Token) ([]apitoken.Token, error),
) (tenants.Added, error) {
	all, err := tokensOf(m, o)
	if err != nil {
		return tenants.Added{}, err
	}
	if all, err = change(all); err != nil {
		return tenants.Added{}, err
	}
	added := tenants.Added{Tenant: tenants.Tenant{Name: o.tenant}, Changed: []string{tokensName}}
	if len(all) == 0 {
		err := m.RemoveSecret(o.tenant, tokensName)
		if _, ok := errors.AsType[*tenants.StillSetError](err); ok { // its entries would count again
			err = &failure{"remove the last token", "remove it there first, and repeat the command; nothing was written", err}
		}
		return added, err
	}
	added, err = m.Add(tenants.Change{Name: o.tenant, Force: true, Secrets: map[string]config.Secret{
		tokensName: config.NewSecret(entries(all)),
	}})
	if wrong, ok := errors.AsType[*config.Errors](err); ok {
		return added, &failure{"write the tokens", "fix the tenant's settings first: async-worker tenant edit " + o.tenant, wrong}
	}
	return added, err
}

func entries(all []apitoken.Token) string {
	var lines []string
	for _, t := range all {
		lines = append(lines, t.String())
	}
	return strings.Join(lines, "\n")
}
