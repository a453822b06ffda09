package scan_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/extract/scan"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/ocr/ocrtest"
	"github.com/seed-7227ef26/async-worker/internal/ocr/tesseract"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Every kind of image is read, with the real engine.
func TestImages(t *testing.T) {
	t.Parallel()
	ocrtest.Need(t, "tesseract", "pdftoppm")
	engine, err := tesseract.Open(t.Context(), tesseract.Options{Languages: []string{"eng"}})
	if err != nil {
		t.Fatal(err)
	}
	img := top(ocrtest.Scan(t, 0, "The harbour master keeps a record", "of every ship that leaves the port.").Gray)
	const text = "The harbour master keeps a record of every ship that leaves the port."
	glass := image.NewNRGBA(img.Rect) // black on transparent
	for i, v := range img.Pix {
		glass.Pix[4*i+3] = 255 - v
	}
	for name, content := range map[string][]byte{
		"png":         pngOf(t, img),
		"transparent": pngOf(t, glass),
		"jpeg":        encoded(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, img, nil) }),
		"sideways": withEXIF(encoded(t,
			func(b *bytes.Buffer) error { return jpeg.Encode(b, ocr.Rotation(3).Of(ocr.Image{Gray: img}), nil) }), 6),
		"gif": encoded(t, func(b *bytes.Buffer) error {
			return gif.Encode(b, &image.Paletted{Pix: img.Pix, Stride: img.Stride, Rect: img.Rect, Palette: grays()}, nil)
		}),
		"bmp": encoded(t, func(b *bytes.Buffer) error { return bmp.Encode(b, img) }),
		"tiff": encoded(t, func(b *bytes.Buffer) error {
			return tiff.Encode(b, img,
				&tiff.Options{Compression: tiff.Deflate})
		}),
		"pages": tiffFile(true, 1, img, top(ocrtest.Blank().Gray), img),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			router := extract.NewRouter(native.Extractors(nil, scan.NewImages(engine, unhurried)))
			doc, err := extract.Collect(t.Context(), router, extract.Source{Path: path}, extract.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			want, pages, read := "1 "+text, 1, "1"
			if name == "pages" {
				want, pages, read = want+"\n3 "+text, 3, "2"
			}
			if outline(doc) != want || doc.Pages != pages || doc.Properties["ocr_pages"] != read ||
				doc.Extractor != "native/image+tesseract" {
				t.Errorf("%q, %+v", outline(doc), doc.Info)
			}
		})
	}
}

// The position of the black rectangle in the image that the engine gets.
func TestOrientation(t *testing.T) {
	t.Parallel()
	jpg := encoded(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, corner(), nil) })
	for orientation, want := range []struct{ width, x, y int }{
		1: {1200, 100, 50}, 2: {1200, 1100, 50}, 3: {1200, 1100, 1550}, 4: {1200, 100, 1550},
		5: {1600, 50, 100}, 6: {1600, 1550, 100}, 7: {1600, 1550, 1100}, 8: {1600, 50, 1100},
	} {
		if orientation == 0 {
			continue
		}
		for name, content := range map[string][]byte{"jpeg": withEXIF(jpg, byte(orientation)), "tiff": tiffFile(false,
			orientation, corner())} {
			var got *image.Gray
			e := scan.NewImages(engine(func(_ context.Context, img ocr.Image) (ocr.Page, error) {
				got = img.Gray
				return ocr.Page{}, nil
			}), unhurried)
			if _, err := nativetest.Extract(t, e, extract.Image, content, extract.Limits{}); err != nil {
				t.Fatal(err)
			}
			if got.Rect.Dx() != want.width || got.GrayAt(want.x, want.y).Y > 50 {
				t.Errorf("%s, orientation %d: %v", name, orientation, got.Rect)
			}
		}
	}
}

func TestImagesRefused(t *testing.T) {
	t.Parallel()
	e := scan.NewImages(reads("x"), unhurried)
	bomb := pngOf(t, image.NewGray(image.Rect(0, 0, 10, 10)))
	binary.BigEndian.PutUint32(bomb[16:], 100_000)
	binary.BigEndian.PutUint32(bomb[20:], 100_000)
	jpg := encoded(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, corner(), nil) })
	for name, tt := range map[string]struct {
		content []byte
		limits  extract.Limits
		class   taskerr.Class
		message string
	}{
		"a bomb":         {tiffBomb(), extract.Limits{}, taskerr.QuotaExceeded, "100000 × 100000 pixels"},
		"a damaged head": {bomb, extract.Limits{}, taskerr.CorruptionDetected, "damaged"},
		"cut off":        {jpg[:len(jpg)/2], extract.Limits{}, taskerr.CorruptionDetected, "damaged or was cut off"},
		"no pages":       {[]byte("II*\x00\x00\x00\x00\x00"), extract.Limits{}, taskerr.CorruptionDetected, "damaged"},
		"another kind": {
			[]byte("<svg xmlns='http://www.w3.org/2000/svg'></svg>"),
			extract.Limits{},
			taskerr.UnsupportedFormat, "PNG, JPEG, TIFF",
		},
		"many pages": {
			tiffFile(false, 1, corner(), corner(), corner()),
			extract.Limits{Pages: 2},
			taskerr.QuotaExceeded, "more than 2 pages",
		},
		"a broken chain": {
			tiffFile(false, 1, corner(), corner())[:8+1200*1600+130],
			extract.Limits{},
			taskerr.CorruptionDetected, "after page 1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nativetest.Refuses(t, e, extract.Image, tt.content, tt.limits, tt.class, tt.message)
		})
	}
	nativetest.Refuses(t, scan.ImagesWithout(errors.New("tesseract is not installed; install tesseract-ocr")),
		extract.Image, jpg,
		extract.Limits{}, taskerr.UnsupportedFormat, "install tesseract-ocr")
}

// Large images are shrunk, small ones enlarged.
func TestSizes(t *testing.T) {
	t.Parallel()
	var got image.Rectangle
	e := scan.NewImages(engine(func(_ context.Context, img ocr.Image) (ocr.Page, error) {
		got = img.Rect
		return ocr.Page{}, nil
	}), scan.Options{PageTime: unhurried.PageTime, Pixels: 500_000})
	small := image.NewGray16(image.Rect(0, 0, 300, 200))
	small.SetGray16(0, 0, color.Gray16{Y: 60000})
	for x := range 100 {
		small.SetGray16(x, 5, color.Gray16{Y: 60000})
	}
	for _, tt := range []struct {
		img  image.Image
		want image.Rectangle
	}{
		{corner(), image.Rect(0, 0, 612, 816)},
		{small, image.Rect(0, 0, 600, 400)},
	} {
		if _, err := nativetest.Extract(t, e, extract.Image, pngOf(t, tt.img), extract.Limits{}); err != nil ||
			got != tt.want {
			t.Errorf("got %v %v, want %v", got, err, tt.want)
		}
	}
}

func TestImageThatStaysUnread(t *testing.T) {
	t.Parallel()
	e := scan.NewImages(engine(func(context.Context, ocr.Image) (ocr.Page, error) {
		return ocr.Page{}, errors.New("the engine stumbled")
	}), unhurried)
	doc, err := nativetest.Extract(t, e, extract.Image, pngOf(t, corner()), extract.Limits{})
	if err != nil || doc.Properties["unread_pages"] != "1" || doc.Properties["unread_reason"] != "the engine stumbled" {
		t.Errorf("%v %+v", err, doc)
	}
}

// A cancellation stops the decoding before the engine is called.
func TestImageEndsWithTheTask(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, pngOf(t, corner()), 0o600); err != nil {
		t.Fatal(err)
	}
	errEnough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errEnough)
	_, err := scan.NewImages(reads("x"), unhurried).Extract(ctx, extract.Source{Path: path}, extract.Limits{},
		func(extract.Block) error { return nil })
	if !errors.Is(err, errEnough) {
		t.Errorf("got %v", err)
	}
}

func TestWebP(t *testing.T) {
	t.Parallel()
	pixel, err := base64.StdEncoding.DecodeString("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := nativetest.Extract(t, scan.NewImages(reads("x"), unhurried), extract.Image, pixel,
		extract.Limits{})
	if err != nil || doc.Pages != 1 || len(doc.Blocks) != 0 {
		t.Errorf("%v %+v", err, doc)
	}
}

func FuzzImages(f *testing.F) {
	small := image.NewGray(image.Rect(0, 0, 40, 20))
	small.SetGray(3, 3, color.Gray{Y: 255})
	f.Add(tiffFile(true, 6, small, small))
	f.Add(pngOf(f, small))
	f.Add(withEXIF(encoded(f, func(b *bytes.Buffer) error { return jpeg.Encode(b, small, nil) }), 5))
	f.Add(encoded(f, func(b *bytes.Buffer) error { return gif.Encode(b, small, nil) }))
	f.Add([]byte("RIFF" + strings.Repeat("\x00", 40)))
	e := scan.NewImages(reads("text"), scan.Options{PageTime: unhurried.PageTime, Pixels: 100_000})
	f.Fuzz(func(t *testing.T, content []byte) {
		nativetest.Fuzz(t, e, extract.Image, content)
	})
}

// Markdown from an engine becomes headings and tables.
func TestImageReadAsMarkdown(t *testing.T) {
	t.Parallel()
	e := scan.NewImages(engine(func(context.Context, ocr.Image) (ocr.Page, error) {
		p, err := reads("Harbour hour")(t.Context(), ocr.Image{})
		p.Markdown = "# Harbour\n\n| ship | hour |\n| - | - |\n| Ada | 7 |"
		return p, err
	}), unhurried)
	doc, err := nativetest.Extract(t, e, extract.Image, pngOf(t, corner()), extract.Limits{})
	if err != nil || len(doc.Blocks) != 2 || doc.Blocks[0].Kind != extract.Heading || doc.Blocks[1].Table == nil ||
		doc.Blocks[1].Page != 1 {
		t.Errorf("%v %+v", err, doc)
	}
}
