package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// deliveryStates are the states of deliveries, in the order of their life.
func deliveryStates() []string {
	return []string{store.DeliveryPending, store.DeliveryDelivered, store.DeliveryFailed, store.DeliveryRefused}
}

func (p *program) newWebhooksListCommand() *cobra.Command {
	var out format
	var f store.DeliveryFilter
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List webhook deliveries, the newest first",
		Long: `list shows the deliveries of webhooks. The worker sends or retries a pending one at the time shown or,
if its receiver is down, once that answers. A delivery is failed when all its attempts failed or its receiver
answered 410, and refused when its address may not be called. Only the host of an address is shown: the rest may
contain a token.`,
		Example: `  async-worker webhooks list --state failed
  async-worker webhooks list --job 4b1c -o json`,
		Args: noArgs,
		RunE: p.action(func(cmd *cobra.Command, _ []string) error {
			if f.Status != "" && !slices.Contains(deliveryStates(), f.Status) {
				return badUsage("the states are "+strings.Join(deliveryStates(), ", "), "--state %q is not a state",
					f.Status)
			}
			if err := checkLimit(f.Limit, 1000); err != nil {
				return err
			}
			return p.withTenant(cmd, storeOnly, func(ctx context.Context, t *app.Tenant) error {
				found, err := t.Store.ListDeliveries(ctx, f)
				if err != nil {
					return &failure{"list webhooks", nextStore, err}
				}
				return p.printDeliveries(out, found)
			})
		}),
	}
	addOutput(cmd, &out)
	cmd.Flags().StringVar(&f.Status, "state", "",
		"only deliveries in this state: "+strings.Join(deliveryStates(), ", "))
	cmd.Flags().StringVar(&f.JobID, "job", "", "only deliveries of the job with this ID")
	cmd.Flags().IntVarP(&f.Limit, "limit", "n", 50, "the maximum number, 1 to 1000")
	_ = cmd.RegisterFlagCompletionFunc("job", p.completeJobs("")) // the flag exists
	addSettings(cmd, storeOnly)
	return cmd
}

func (p *program) printDeliveries(out format, found []store.DeliveryEntry) error {
	if out == asJSON {
		return printJSON(p.stdout, orEmpty(found))
	}
	items := make([]item, 0, len(found))
	for _, d := range found {
		answer, trouble, next := "", "", ""
		if d.ResponseStatus != nil {
			answer = "answered " + strconv.Itoa(*d.ResponseStatus)
		}
		if d.LastError != nil {
			trouble = *d.LastError
		}
		switch {
		case d.InFlight:
			next = "being sent"
		case d.Waiting:
			next = "sent when the receiver is up"
		case d.Status == store.DeliveryPending:
			next = "next " + formatTimePtr(d.NextAttemptAt)
		}
		if trouble != "" {
			answer = "" // the error includes it
		}
		items = append(items, item{
			[]string{
				d.ID, strings.TrimPrefix(d.Event, "task."), d.Status, strconv.Itoa(d.Attempts), formatTime(d.CreatedAt),
				d.JobID,
			},
			joinNonEmpty(d.Host, next, answer, trouble, beforeResend(d.Earlier)),
		})
	}
	return listing(p.stdout, []string{"ID", "EVENT", "STATE", "TRIES", "CREATED", "JOB"}, items)
}

// beforeResend says how a delivery ended before it was last sent again.
func beforeResend(earlier []store.DeliveryEnd) string {
	if len(earlier) == 0 {
		return ""
	}
	e := earlier[0]
	text := "before it was sent again: " + e.Status
	switch {
	case e.LastError != nil:
		text += ", " + *e.LastError
	case e.ResponseStatus != nil:
		text += ", answered " + strconv.Itoa(*e.ResponseStatus)
	}
	return text
}

func (p *program) newWebhooksResendCommand() *cobra.Command {
	var out format
	delivered := false
	cmd := &cobra.Command{
		Use: "resend ID...", Short: "Send failed or refused webhooks again",
		Long: `resend makes the tenant's worker send failed or refused deliveries again, with a new schedule. Each
keeps its webhook-id and body, so that a receiver recognizes one that it has. The worker sends pending ones
anyway. Delivered ones are sent again only with --delivered. How a delivery ended before stays: webhooks list
-o json has the last 20 times under "earlier", and "attempts" counts all.`,
		Example: `  async-worker webhooks resend msg_2b7e…
  async-worker webhooks list --state failed -n 1000 -o json | jq -r '.[].id' | xargs -r async-worker webhooks resend`,
		Args: someArgs("the ID of a delivery"),
		RunE: p.action(func(cmd *cobra.Command, ids []string) error {
			return p.withTenant(cmd, storeOnly, func(ctx context.Context, t *app.Tenant) error {
				return p.resend(ctx, t.Store, ids, delivered, out)
			})
		}),
	}
	cmd.Flags().BoolVar(&delivered, "delivered", false, "also delivered ones")
	addOutput(cmd, &out)
	addSettings(cmd, storeOnly)
	return cmd
}

// notFoundError is a missing thing for which the command has its own advice.
type notFoundError struct{ err error }

func (e *notFoundError) Error() string { return e.err.Error() }
func (e *notFoundError) Unwrap() error { return e.err }

// resend continues after a refused one and stops when the store fails.
func (p *program) resend(ctx context.Context, s store.Resends, ids []string, delivered bool, out format) error {
	var again []store.DeliveryEntry
	var refused []error
	var stopped error
	for _, id := range ids {
		d, err := s.ResendDelivery(ctx, store.DeliveryResend{ID: id, Delivered: delivered})
		if err == nil {
			again = append(again, d)
			continue
		}
		doing := "send webhook " + strconv.Quote(id) + " again"
		switch {
		case errors.Is(err, store.ErrNotFound):
			err = &failure{
				doing, p.nextUnknown("webhooks list", "deliveries"),
				&notFoundError{err},
			}
		case errors.Is(err, store.ErrNotResendable), errors.Is(err, store.ErrDelivered):
			err = &failure{doing, "", err}
		default:
			stopped = &failure{doing, nextStore, err}
		}
		if stopped != nil {
			break
		}
		refused = append(refused, err)
	}
	return errors.Join(p.printResent(out, again), errors.Join(refused...), stopped)
}

func (p *program) printResent(out format, again []store.DeliveryEntry) error {
	if out == asJSON {
		return printJSON(p.stdout, orEmpty(again))
	}
	for _, d := range again {
		fmt.Fprintln(p.stdout, printable(d.ID+": the tenant's worker sends it again to "+d.Host+
			" within a minute"))
	}
	return nil
}
