package devstack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/gateway/gatewaytest"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// startGateway starts a stand-in of the gateway, which reads every PDF as the sample invoice.
func (d *dev) startGateway(context.Context) error {
	gateway, err := gatewaytest.Open(gatewaytest.Options{})
	if err != nil {
		return err
	}
	d.parts.add("gateway", gateway.Close)
	d.gateway, d.env["GATEWAY_URL"] = gateway, gateway.URL()
	d.out.done("gateway", "a stand-in at "+gateway.URL()+", which reads each PDF as dev/samples/invoice.pdf")
	return nil
}

// converted is the part of an xml task's result that the tour shows.
type converted struct {
	ResultPath   string `json:"result_path"`
	Bytes        int64  `json:"bytes"`
	HTTPStatus   int    `json:"http_status"`
	GatewayMS    int64  `json:"gateway_ms"`
	Deduplicated bool   `json:"deduplicated"`
}

// convertInvoice makes XML of the sample invoice, twice: the second task gets the answer that the first paid for.
func (d *dev) convertInvoice(ctx context.Context, t *app.Tenant, stamp string) error {
	d.out.section("An invoice becomes XML by the gateway, and the same invoice again")
	before := d.gateway.Paid()
	for n, id := range []string{"invoice-" + stamp, "invoice-again-" + stamp} {
		if err := d.sendInvoice(ctx, t, id); err != nil {
			return fmt.Errorf("send an xml task: %w", err)
		}
		if err := d.follow(ctx, t.Store, id); err != nil {
			return fmt.Errorf("make XML of an invoice (the worker's log is %s): %w", d.home.rel(d.home.logPath("worker")), err)
		}
		got, err := d.webhook(ctx, id)
		if err != nil {
			return err
		}
		var r converted
		if err := decodeResult(got, &r); err != nil || got.Type != "task.completed" {
			return fmt.Errorf("the webhook of the xml task is %s", got.Type)
		}
		if r.Deduplicated && n == 0 && d.Once || !r.Deduplicated && n == 1 {
			return fmt.Errorf("task %s shared an answer of the gateway: %v", id, r.Deduplicated)
		}
		if err := d.showXML(ctx, t, r); err != nil {
			return err
		}
	}
	if paid := d.gateway.Paid() - before; paid > 1 {
		return fmt.Errorf("the gateway was paid %d times for one invoice", paid)
	}
	return nil
}

func (d *dev) sendInvoice(ctx context.Context, t *app.Tenant, id string) error {
	f, err := os.Open(filepath.Join(d.home.root, "dev", "samples", "invoice.pdf"))
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := t.Bucket.Put(ctx, "uploads/"+id+".pdf", f, "application/pdf"); err != nil {
		return fmt.Errorf("upload: %w", err)
	}
	payload, err := json.Marshal(map[string]any{"pretty": true}) // the document's default name is that of the task
	if err != nil {
		return err
	}
	_, err = t.Enqueue(ctx, task.Task{
		ID: id, Type: task.XML, Payload: payload, WebhookURL: d.receiver.URL, Priority: task.PriorityNormal,
		ClientID: clientID, RequestedBy: "dev",
	})
	return err
}

// xmlLines is how much of a result is shown.
const xmlLines = 6

func (d *dev) showXML(ctx context.Context, t *app.Tenant, r converted) error {
	_, body, err := t.Bucket.Open(ctx, r.ResultPath)
	if err != nil {
		return fmt.Errorf("open the result: %w", err)
	}
	defer body.Close()
	text, err := io.ReadAll(io.LimitReader(body, 64<<10))
	if err != nil {
		return fmt.Errorf("read the result: %w", err)
	}
	if !strings.HasPrefix(string(text), "<?xml") {
		return errors.New("the result is not XML")
	}
	how := fmt.Sprintf("HTTP %d after %d ms", r.HTTPStatus, r.GatewayMS)
	if r.Deduplicated {
		how = "the answer to the first, not paid for again"
	}
	d.out.done("xml", fmt.Sprintf("%s, %d bytes: %s", r.ResultPath, r.Bytes, how))
	if !r.Deduplicated {
		for _, line := range strings.SplitN(string(text), "\n", xmlLines+1)[:xmlLines] {
			d.out.line("    %s", line)
		}
	}
	return nil
}
