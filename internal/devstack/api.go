package devstack

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/stack"
)

// startAPI starts PostgREST behind what Supabase's gateway does: /rest/v1, and keys in the header apikey.
func (d *dev) startAPI(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, errStartTimeout)
	defer cancel()
	log, err := d.home.log("postgrest")
	if err != nil {
		return err
	}
	secret := rand.Text() + rand.Text() // PostgREST needs 32 characters
	postgrest, err := stack.StartPostgREST(ctx, stack.PostgRESTOptions{
		DatabaseURL: d.database, JWTSecret: secret, Pool: 1, OneSession: true, Root: d.home.root, Log: log,
	})
	if err != nil {
		return err
	}
	d.parts.watch("postgrest", postgrest, postgrest.Stop)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen as Supabase's gateway: %w", err)
	}
	gateway := &http.Server{Handler: postgrest.Handler(), ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = gateway.Serve(listener) }() // it ends by Close, with ErrServerClosed
	d.parts.add("supabase api", gateway.Close)
	d.env["SUPABASE_URL"] = "http://" + listener.Addr().String()
	if d.env["SUPABASE_KEY"], err = stack.TenantKey(secret, clientID); err != nil {
		return err
	}
	d.out.done("postgrest", "Supabase's API at "+d.env["SUPABASE_URL"]+"/rest/v1, with a key for "+clientID+" alone")
	return nil
}
