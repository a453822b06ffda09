package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/seed-7227ef26/async-worker/internal/einvoice/einvoicetest"
)

// invoiceBlob is the invoice of a tenant.
const invoiceBlob = "invoice.pdf"

// invoice is a PDF that no other tenant has: the calls of the gateway about it are this tenant's.
func (t *tenant) invoice() string {
	return string(einvoicetest.PDF([]string{"Invoice of " + t.client}))
}

// checkPaid: the gateway is not paid again for bytes whose answer was stored, and the job's result is the one XML of
// the tenant. points are those that the first process met: it stores an answer by its first Put.
func (t *tenant) checkPaid(ctx context.Context, r *report, points []string) (found []string, err error) {
	sum := sha256.Sum256([]byte(t.invoice()))
	hash, calls, paid := hex.EncodeToString(sum[:]), 0, 0
	for _, c := range t.gateway.Calls() {
		if c.SHA256 != hash {
			continue
		}
		if calls++; c.Status == http.StatusOK {
			paid++
		}
	}
	stored, most := slices.Contains(points, "blob.Put#1:after"), 2
	if stored {
		most = 1
	}
	if paid < 1 || paid > most || calls > 2 {
		found = append(found, fmt.Sprintf("paid for once: %d calls of the gateway, %d were paid for; was the first answer stored: %v",
			calls, paid, stored))
	}
	r.add("calls of the gateway paid for", paid)
	if paid > 1 {
		r.add("answers that died with their worker before they were stored", paid-1)
	}
	var path, sha string
	var rows int
	if err := t.db.QueryRow(ctx, `select j.result ->> 'result_path', j.result ->> 'sha256',
		(select count(*) from derived_contents d where d.client_id = j.client_id)
		from jobs j where j.client_id = $1 and j.id = $2`, t.client, taskID).Scan(&path, &sha, &rows); err != nil {
		return found, err
	}
	got, err := t.blobs.DownloadStream(ctx, t.container(), path, nil)
	if err != nil {
		return append(found, fmt.Sprintf("one result: %s: %v", path, err)), nil
	}
	defer got.Body.Close()
	hashed := sha256.New()
	if _, err := io.Copy(hashed, got.Body); err != nil {
		return found, err
	}
	if rows != 1 || hex.EncodeToString(hashed.Sum(nil)) != sha {
		found = append(found, fmt.Sprintf("one result: %d rows, and %s is not what the job's result says", rows, path))
	}
	return found, nil
}
