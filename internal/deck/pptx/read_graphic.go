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
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml/diagram"
)

// graphic reads a p:graphicFrame: a table, a chart, a diagram, or an embedded object's picture.
func (s *sheet) graphic(n *node, f frame) error {
	e := deck.Element{Box: f.box(n.kid("xfrm"))}
	if ph := n.find("ph"); ph != nil {
		kind, index := ph.attr("type"), int(ph.num("idx", 0))
		if e.Index = index; e.Box == nil {
			e.Box = s.look.box(kind, index)
		}
		e.Role = roleOf(kind)
	}
	s.about(&e, n)
	data := n.at("graphic", "graphicData")
	switch {
	case data.kid("tbl") != nil:
		e.Kind, e.Table = deck.TableElement, s.table(data.kid("tbl"))
		if e.Table == nil {
			return nil
		}
		return s.addTable(e, n)
	case data.kid("chart") != nil:
		c, err := s.chart(s.relations[data.kid("chart").rel("id")].Target)
		if err != nil || c == nil {
			return err
		}
		e.Kind, e.Chart = deck.ChartElement, c
		return s.add(e, n)
	case data.kid("relIds") != nil:
		text, err := s.diagram(s.relations[data.kid("relIds").rel("dm")].Target)
		if err != nil || text == nil {
			return err
		}
		s.warn("diagrams (SmartArt) are kept as lists of their texts")
		e.Kind, e.Role, e.Text = deck.TextElement, "", text
		return s.add(e, n)
	}
	if pic := data.find("pic"); pic != nil {
		s.warn("embedded objects are kept as pictures")
		return s.pictureOf(pic, e, n)
	}
	s.warn("embedded objects without a picture are not kept")
	return nil
}

func (s *sheet) addTable(e deck.Element, n *node) error {
	for _, row := range e.Table.Rows {
		for i := range row.Cells {
			if err := s.spend(row.Cells[i].Text.Plain()); err != nil {
				return err
			}
		}
	}
	return s.add(e, n)
}

// diagram reads the text of a SmartArt.
func (s *sheet) diagram(part string) (*deck.Text, error) {
	var blocks []extract.Block
	err := s.pkg.Read(s.ctx, part, func(d *ooxml.Decoder) (err error) {
		blocks, err = diagram.Read(d, func(n int) error { return s.spend(strings.Repeat("x", min(n, 1<<20))) })
		return err
	})
	if err != nil || len(blocks) == 0 {
		return nil, ooxml.Optional(err)
	}
	t := &deck.Text{}
	for _, b := range blocks {
		p := deck.Paragraph{Runs: []deck.Run{{Text: b.Text}}, Level: min(max(b.Level, 0), levels-1)}
		if b.Kind == extract.ListItem {
			p.List = &deck.List{Kind: deck.BulletList}
		}
		t.Paragraphs = append(t.Paragraphs, p)
	}
	return t, nil
}

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
	e.Kind, e.Picture = deck.PictureElement, &deck.Picture{Media: key}
	if crop := fill.kid("srcRect"); crop != nil {
		c := deck.Crop{Left: edge(crop, "l"), Top: edge(crop, "t"), Right: edge(crop, "r"), Bottom: edge(crop, "b")}
		if c.Left+c.Top+c.Right+c.Bottom > 0 && c.Left+c.Right < 1 && c.Top+c.Bottom < 1 {
			e.Picture.Crop = &c
		}
	}
	return s.add(e, about)
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
