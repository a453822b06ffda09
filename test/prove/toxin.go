package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/docling/doclingtest"
)

// toxin is a service that some tasks are poison to.
type toxin struct {
	mu    sync.Mutex
	made  map[string]int // calls, by task
	stops []func()
	dying sync.WaitGroup
}

func newToxin() *toxin { return &toxin{made: map[string]int{}} }

// poisonName is the name of a poison task in whatever its service is sent.
var poisonName = regexp.MustCompile(`poison-\d+`)

// swallow counts a call, and says whether it is poison.
func (t *toxin) swallow(task string) bool {
	if task == "" {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.made[task]++
	return true
}

func (t *toxin) calls(task string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.made[task]
}

func (t *toxin) close() {
	t.dying.Wait()
	for _, stop := range t.stops {
		stop()
	}
}

// die takes a service down for a second, as one that is started again by who looks after it.
func (t *toxin) die(service entrance) {
	t.dying.Go(func() {
		service.cut(refuses, "")
		time.Sleep(time.Second)
		_ = service.mend() // what is refused for ever is found
	})
}

// toxicModel fails at texts with the name of a poison task.
func toxicModel(status int) func(*poisonRun, *addresses) (*toxin, []string, error) {
	return func(p *poisonRun, at *addresses) (*toxin, []string, error) {
		t := newToxin()
		d := newDoor(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return
			}
			if t.swallow(string(poisonName.Find(body))) {
				w.Header().Set("Retry-After", "1")
				http.Error(w, "out of order", status)
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			p.tenant.model.ServeHTTP(w, r)
		})
		t.stops = append(t.stops, d.close)
		at.model = d.server.URL + "/v1"
		return t, nil, nil
	}
}

// standIn is what a stand-in of tests needs of its test.
type standIn struct {
	testing.TB
	t *toxin
}

func (standIn) Helper()            {}
func (s standIn) Cleanup(f func()) { s.t.stops = append(s.t.stops, f) }

// toxicDocling is a docling-serve that dies when it gets the file of a poison task.
func toxicDocling(_ *poisonRun, _ *addresses) (*toxin, []string, error) {
	t := newToxin()
	server := doclingtest.New(standIn{t: t}, doclingtest.Options{Removal: time.Minute})
	target, err := url.Parse(server.URL())
	if err != nil {
		return nil, nil, err
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	var d *door
	d = newDoor(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if r.Method == http.MethodPost && t.swallow(string(poisonName.Find(body))) {
			t.die(d)
			hangUp(w)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	})
	t.stops = append([]func(){d.close}, t.stops...)
	return t, []string{"DOCLING_URL=" + d.server.URL, "DOCLING_API_KEY=" + doclingtest.Key, "EXTRACTOR=docling"}, nil
}

// toxicDatabase dies when a poison task is completed.
func toxicDatabase(_ *poisonRun, at *addresses) (*toxin, []string, error) {
	t := newToxin()
	p, address, err := newPGProxy(at.database, newScript())
	if err != nil {
		return nil, nil, err
	}
	p.lethal = func(call string, group []byte) bool {
		if !strings.HasPrefix(call, "complete") || !t.swallow(string(poisonName.Find(group))) {
			return false
		}
		t.die(p)
		return true
	}
	at.database = address
	t.stops = append(t.stops, p.close)
	return t, nil, nil
}

// toxicOCR is a model that reads pages, and fails at those of one shade: the poison task's number.
func toxicOCR(_ *poisonRun, _ *addresses) (*toxin, []string, error) {
	t := newToxin()
	d := newDoor(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Messages []struct {
				Content json.RawMessage `json:"content"`
			} `json:"messages"`
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		task := ""
		for _, m := range asked.Messages {
			if n := shade(m.Content); n > 0 && n <= poisonTasks {
				task = fmt.Sprintf("poison-%d", n)
			}
		}
		if t.swallow(task) {
			http.Error(w, "out of order", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		// An error here is the client's going away.
		_, _ = io.WriteString(w, `{"id":"a","object":"chat.completion","choices":[{"index":0,"finish_reason":"stop",
			"message":{"role":"assistant","content":"# The watch\n\nIt saw some ships."}}],"usage":{"prompt_tokens":9,"completion_tokens":9}}`)
	})
	t.stops = append(t.stops, d.close)
	return t, []string{"OCR_ENGINE=openai", "OCR_BASE_URL=" + d.server.URL + "/v1", "OCR_MODEL=gpt-4o-mini"}, nil
}

// shadeStep is between the grays of two numbers.
const shadeStep = 40

var dataURL = regexp.MustCompile(`data:image/png;base64,([A-Za-z0-9+/=]+)`)

// shade is the number that the picture in a message stands for; zero: there is none.
func shade(content []byte) int {
	found := dataURL.FindSubmatch(content)
	if found == nil {
		return 0
	}
	raw, err := base64.StdEncoding.DecodeString(string(found[1]))
	if err != nil {
		return 0
	}
	img, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		return 0
	}
	gray, _ := color.GrayModel.Convert(img.At(img.Bounds().Dx()/2, img.Bounds().Dy()/2)).(color.Gray)
	return (int(gray.Y) + shadeStep/2) / shadeStep
}

// pictureTask reads a picture, of the shade of a poison task's number or white.
func pictureTask(ctx context.Context, p *poisonRun, id string) (string, error) {
	gray, n := color.Gray{Y: 255}, 0
	if _, err := fmt.Sscanf(id, "poison-%d", &n); err == nil {
		gray.Y = uint8(n * shadeStep)
	}
	picture := image.NewGray(image.Rect(0, 0, 400, 400))
	for i := range picture.Pix {
		picture.Pix[i] = gray.Y
	}
	picture.SetGray(len(p.sent)%400, len(p.sent)/400, color.Gray{Y: 128}) // each is another one
	var b bytes.Buffer
	if err := png.Encode(&b, picture); err != nil {
		return "", err
	}
	if err := p.upload(ctx, id+".png", b.String()); err != nil {
		return "", err
	}
	text, err := json.Marshal(map[string]any{
		"task_id": id, "task_type": "ocr", "webhook_url": p.hooks.server.URL + "/hook",
		"payload": map[string]any{"filename": id + ".png", "blob": id + ".png"},
	})
	return string(text), err
}
