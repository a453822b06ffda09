package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/png"
	"io"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/deck/pptx"
)

// talk is a presentation with two pictures, and its deck without them.
func talk() (map[string]string, error) {
	d := deck.New("Talk")
	d.Slides = []deck.Slide{{Layout: "title", Title: "Talk"}, {Layout: "content", Title: "Lamps", Notes: "Light them."}}
	var text bytes.Buffer
	if err := deck.Write(&text, d); err != nil {
		return nil, err
	}
	files := map[string]string{"talk.json": text.String()}
	pictures := map[string]string{}
	d.Media = map[string]deck.Media{}
	for width := range 2 {
		var data bytes.Buffer
		if err := png.Encode(&data, image.NewGray(image.Rect(0, 0, width+8, 8))); err != nil {
			return nil, err
		}
		sum := sha256.Sum256(data.Bytes())
		key := hex.EncodeToString(sum[:])
		pictures[key], d.Media[key] = data.String(), deck.Media{Type: "image/png", Bytes: int64(data.Len())}
		d.Slides[1].Elements = append(d.Slides[1].Elements, deck.Element{
			Kind: deck.PictureElement, Box: &deck.Box{X: 914400, Y: 1828800, W: 914400, H: 914400}, Picture: &deck.Picture{Media: key},
		})
	}
	var file bytes.Buffer
	_, err := pptx.Write(context.Background(), &file, d, pptx.WriteOptions{
		Media: func(key string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(pictures[key])), nil },
	})
	files["talk.pptx"] = file.String()
	return files, err
}

// checkArtifacts: the container has the blobs of recorded decks and of successful exports, and no others of their kinds.
// A process that dies between its upload and the removal leaves blobs of a canceled task.
func (t *tenant) checkArtifacts(ctx context.Context, deaths int) (found []string, err error) {
	names := map[string]bool{}
	pager := t.blobs.NewListBlobsFlatPager(t.container(), nil)
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list the container: %w", err)
		}
		for _, b := range page.Segment.BlobItems {
			names[*b.Name] = true
		}
	}
	rows, err := t.db.Query(ctx, `
		select 'decks/' || d.id, d.blob from decks d where d.client_id = $1
		union all select j.result ->> 'result_path', j.result ->> 'result_path'
		  from jobs j where j.client_id = $1 and j.type = 'export' and j.status = 'succeeded'`, t.client)
	if err != nil {
		return nil, err
	}
	var prefix, name string
	if _, err := pgx.ForEachRow(rows, []any{&prefix, &name}, func() error {
		if !names[name] {
			found = append(found, "I2 what a job has made is there: "+name+" is not")
		}
		for n := range names {
			if strings.HasPrefix(n, prefix) {
				delete(names, n)
			}
		}
		return nil
	}); err != nil {
		return found, err
	}
	var canceled bool
	if err := t.db.QueryRow(ctx, `select exists (select from jobs where client_id = $1 and status = 'canceled')`, t.client).Scan(&canceled); err != nil {
		return found, err
	}
	for n := range names {
		made := strings.HasPrefix(n, "decks/") || strings.HasPrefix(n, "exports/")
		if made && (!canceled || deaths == 0) {
			found = append(found, "I2 no artifact but those of successful jobs: "+n)
		}
	}
	return found, nil
}
