package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	_ "image/jpeg" // as pages are sent
	"image/png"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
)

// toxicOCR is a model that reads pages, and fails at those of poison tasks.
func toxicOCR(p *poisonRun, _ *addresses) (*toxin, []string, error) {
	t := newToxin()
	server := llmtest.New(stubTest{t: t}, llmtest.Options{Reply: func(r llmtest.ChatRequest) llmtest.Reply {
		return llmtest.Reply{Text: fmt.Sprintf("# Watch\n\nThe watch of %s saw %d ships.", p.client, len(r.Raw)%1000)}
	}})
	target, err := url.Parse(server.AzureURL())
	if err != nil {
		return nil, nil, err
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	d := newFaultyServer(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if t.isPoison(poisonIn(body)) {
			http.Error(w, "out of order", http.StatusInternalServerError)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	})
	t.stops = append([]func(){d.close}, t.stops...)
	return t, []string{
		"OCR_ENGINE=openai", "OCR_MODEL=gpt-4o-mini", "OCR_BASE_URL=" + d.server.URL + "/v1",
		"OCR_API_KEY=" + llmtest.Key,
	}, nil
}

// paperStep is how much darker the paper of each poison task is than the one before: enough to tell them apart when
// the page arrives as a JPEG.
const paperStep = 40

// scanTask ingests an image of a page. Its paper's shade identifies the task.
func scanTask(ctx context.Context, p *poisonRun, id string) (string, error) {
	var n int
	if poisonName.MatchString(id) {
		if _, err := fmt.Sscanf(id, "poison-%d", &n); err != nil {
			return "", err
		}
	}
	page := image.NewRGBA(image.Rect(0, 0, 400, 300))
	draw.Draw(page, page.Bounds(), image.NewUniform(color.Gray{Y: uint8(255 - n*paperStep)}), image.Point{}, draw.Src)
	for line := range 6 {
		draw.Draw(page, image.Rect(40, 60+30*line, 300+10*line, 70+30*line), image.Black, image.Point{}, draw.Src)
	}
	var raw bytes.Buffer
	if err := png.Encode(&raw, page); err != nil {
		return "", err
	}
	if err := p.upload(ctx, id+".png", raw.String()); err != nil {
		return "", err
	}
	return p.ingest(id, id+".png", p.hooks.URL, map[string]any{"filename": id + ".png"}), nil
}

var dataURI = regexp.MustCompile(`data:image/[a-z]+;base64,[A-Za-z0-9+/=]+`)

// poisonIn is the poison task whose page is in a request, "" for none.
func poisonIn(body []byte) string {
	_, data, _ := strings.Cut(string(dataURI.Find(body)), ",")
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return ""
	}
	page, _, err := image.Decode(bytes.NewReader(raw))
	if err != nil {
		return "" // a probe has none
	}
	paper := color.GrayModel.Convert(page.At(page.Bounds().Dx()/50, page.Bounds().Dy()/50)).(color.Gray)
	n := (255 - int(paper.Y) + paperStep/2) / paperStep
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("poison-%d", n)
}
