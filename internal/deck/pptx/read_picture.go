package pptx

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	_ "image/gif"  // for the size of pictures
	_ "image/jpeg" // for the size of pictures
	_ "image/png"  // for the size of pictures
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/deck"
)

// picture reads a p:pic.
func (s *sheet) picture(n *node, f frame) error {
	e := deck.Element{Box: f.box(n.at("spPr", "xfrm"))}
	if ph := n.find("ph"); ph != nil {
		if e.Box == nil {
			e.Box = s.look.box(ph.attr("type"), int(ph.num("idx", 0)))
		}
	}
	s.about(&e, n)
	if n.find("videoFile") != nil || n.find("audioFile") != nil {
		s.warn("films and sounds are kept as their pictures")
	}
	return s.pictureOf(n, e, n)
}

func (s *sheet) pictureOf(n *node, e deck.Element, about *node) error {
	fill := n.kid("blipFill")
	id := fill.kid("blip").rel("embed")
	if id == "" {
		if fill.kid("blip").rel("link") != "" {
			s.warn("pictures that are linked, and not in the file, are not kept")
		}
		return nil
	}
	key, err := s.mediaOf(s.relations[id].Target)
	if err != nil || key == "" {
		return err
	}
	if fill.kid("tile") != nil {
		s.warn("pictures that are repeated as tiles are shown once")
	}
	e.Kind, e.Picture = deck.PictureElement, &deck.Picture{Media: key, Crop: cropOf(fill)}
	return s.add(e, about)
}

// filled says what e is about, and adds the picture that fills it, if there is one, as an element below it. That has its
// alternative text then, so that it is read once.
func (s *sheet) filled(e *deck.Element, n *node) (pictured bool, err error) {
	picture, before := deck.Element{Box: e.Box}, len(s.elements)
	s.about(&picture, n)
	err = s.pictureOf(n.kid("spPr"), picture, n)
	pictured = len(s.elements) > before
	if s.about(e, n); pictured {
		e.Alt = ""
	}
	return pictured, err
}

// cropOf is what a p:blipFill or a:blipFill hides of its picture; nil: nothing.
func cropOf(fill *node) *deck.Crop {
	c := &deck.Crop{}
	c.Left, c.Right = hidden(fill, "l", "r")
	c.Top, c.Bottom = hidden(fill, "t", "b")
	if c.Left+c.Top+c.Right+c.Bottom > 0 && c.Left+c.Right < 1 && c.Top+c.Bottom < 1 {
		return c
	}
	return nil
}

// hidden are the parts of a picture that are not shown at two opposite edges: those that a:srcRect cuts off, and those
// beyond the edges of the shape, where a:fillRect is larger than that (20.1.8.30).
func hidden(fill *node, first, last string) (before, after float64) {
	source, place := fill.kid("srcRect"), fill.at("stretch", "fillRect")
	before, after = edge(source, first), edge(source, last)
	over := func(name string) float64 { return max(-float64(place.num(name, 0))/100000, 0) }
	shown := (1 - before - after) / (1 + over(first) + over(last))
	return before + shown*over(first), after + shown*over(last)
}

func edge(n *node, name string) float64 { return clamp(float64(n.num(name, 0)) / 100000) }

// mediaOf saves a picture's part under its hash, and returns that; "": there is no folder, or no such part.
func (r *reader) mediaOf(part string) (string, error) {
	if key, known := r.media[part]; known || r.options.Folder == "" {
		return key, nil
	}
	rc, err := r.pkg.Part(part)
	if errors.Is(err, fs.ErrNotExist) {
		r.warn("pictures are missing in the file")
		r.media[part] = ""
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer func() { _ = rc.Close() }() // read-only
	key, about, err := Save(r.ctx, rc, r.options.Folder, filepath.Ext(part))
	if err != nil {
		return "", err
	}
	r.media[part], r.deck.Media[key] = key, about
	return key, nil
}

// Save saves a picture in a folder under the SHA-256 of its bytes, and returns that in hex, and what is known of it.
// extension is its file's, for types that the content does not tell.
func Save(ctx context.Context, from io.Reader, folder, extension string) (key string, m deck.Media, err error) {
	file, err := os.CreateTemp(folder, "media-")
	if err != nil {
		return "", m, fmt.Errorf("save a picture: %w", err)
	}
	defer func() { _ = os.Remove(file.Name()) }() // it has another name then, unless this failed
	defer func() { err = errors.Join(err, file.Close()) }()
	sum := sha256.New()
	if m.Bytes, err = io.Copy(io.MultiWriter(file, sum), reading{ctx, from}); err != nil {
		return "", m, fmt.Errorf("save a picture: %w", err)
	}
	key = hex.EncodeToString(sum.Sum(nil))
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return "", m, fmt.Errorf("save a picture: %w", err)
	}
	var head [512]byte
	n, err := file.ReadAt(head[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", m, fmt.Errorf("save a picture: %w", err)
	}
	m.Type = mediaType(head[:n], extension)
	if c, _, err := image.DecodeConfig(file); err == nil { // else its size stays unknown
		m.Width, m.Height = c.Width, c.Height
	}
	if err := os.Rename(file.Name(), filepath.Join(folder, key)); err != nil {
		return "", m, fmt.Errorf("save a picture: %w", err)
	}
	return key, m, nil
}

// reading stops when the context ends.
type reading struct {
	ctx context.Context
	r   io.Reader
}

func (r reading) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.r.Read(p)
}

func mediaType(head []byte, extension string) string {
	if t := http.DetectContentType(head); strings.HasPrefix(t, "image/") {
		return t
	}
	switch strings.ToLower(extension) {
	case ".emf":
		return "image/x-emf"
	case ".wmf":
		return "image/x-wmf"
	case ".svg":
		return "image/svg+xml"
	case ".tif", ".tiff":
		return "image/tiff"
	}
	return "application/octet-stream"
}
