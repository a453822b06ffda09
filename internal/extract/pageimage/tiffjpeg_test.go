package pageimage_test

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/jpeg"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract/pageimage"
)

// strips is a picture of 64 × 64 whose rows from 32 on are white, in strips of 32 rows.
func strips(t testing.TB, rgb bool) [][]byte {
	t.Helper()
	var all [][]byte
	for _, shade := range []uint8{0, 255} {
		img := image.NewRGBA(image.Rect(0, 0, 64, 32))
		for i := range img.Pix {
			img.Pix[i] = shade
		}
		var out bytes.Buffer
		var picture image.Image = img
		if !rgb {
			gray := image.NewGray(img.Rect)
			for i := range gray.Pix {
				gray.Pix[i] = shade
			}
			picture = gray
		}
		if err := jpeg.Encode(&out, picture, nil); err != nil {
			t.Fatal(err)
		}
		all = append(all, out.Bytes())
	}
	return all
}

// tiffOf makes a TIFF or a BigTIFF of strips with a compression.
func tiffOf(order binary.AppendByteOrder, big bool, compression uint32, strips [][]byte) []byte {
	const short, long, long8 = 3, 4, 16
	mark := map[bool]string{true: "MM", false: "II"}[order == binary.AppendByteOrder(binary.BigEndian)]
	word, offsetType := 4, uint16(long)
	out := []byte(mark)
	if big {
		word, offsetType = 8, long8
		out = order.AppendUint16(order.AppendUint16(order.AppendUint16(out, 43), 8), 0)
	} else {
		out = order.AppendUint16(out, 42)
	}
	number := func(b []byte, n uint64) []byte {
		if big {
			return order.AppendUint64(b, n)
		}
		return order.AppendUint32(b, uint32(n))
	}
	at := len(out) + word
	var data, offsets, counts []byte
	for _, s := range strips {
		offsets, counts = number(offsets, uint64(at+len(data))), number(counts, uint64(len(s)))
		data = append(data, s...)
	}
	offsetsAt := at + len(data)
	countsAt := offsetsAt + len(offsets)
	out = append(append(append(number(out, uint64(countsAt+len(counts))), data...), offsets...), counts...)
	type entry struct {
		tag, kind uint16
		count     uint64
		value     uint64
	}
	entries := []entry{
		{256, short, 1, 64},
		{257, short, 1, 64},
		{258, short, 1, 8},
		{259, short, 1, uint64(compression)},
		{262, short, 1, 1},
		{273, offsetType, uint64(len(strips)), uint64(offsetsAt)},
		{277, short, 1, 1},
		{278, short, 1, 32},
		{279, offsetType, uint64(len(strips)), uint64(countsAt)},
	}
	if big {
		out = order.AppendUint64(out, uint64(len(entries)))
	} else {
		out = order.AppendUint16(out, uint16(len(entries)))
	}
	for _, e := range entries {
		out = number(order.AppendUint16(order.AppendUint16(out, e.tag), e.kind), e.count)
		if e.kind == short {
			value := order.AppendUint16(nil, uint16(e.value))
			out = append(append(out, value...), make([]byte, word-2)...)
			continue
		}
		out = number(out, e.value)
	}
	return number(out, 0)
}

func TestTIFF(t *testing.T) {
	t.Parallel()
	plain := [][]byte{make([]byte, 64*32), bytes.Repeat([]byte{255}, 64*32)}
	for what, content := range map[string][]byte{
		"JPEG":                  tiffOf(binary.LittleEndian, false, 7, strips(t, false)),
		"JPEG, color":           tiffOf(binary.BigEndian, false, 7, strips(t, true)),
		"BigTIFF":               tiffOf(binary.LittleEndian, true, 1, plain),
		"BigTIFF, big-endian":   tiffOf(binary.BigEndian, true, 1, plain),
		"BigTIFF with JPEG":     tiffOf(binary.LittleEndian, true, 7, strips(t, false)),
		"TIFF, to compare with": tiffOf(binary.LittleEndian, false, 1, plain),
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "a.tif")
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			images, err := pageimage.OpenImages(t.Context(), path, "", 10, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer images.Close()
			img, err := images.Decode(t.Context(), 1, pageimage.Size{Side: 64})
			if err != nil || images.Pages() != 1 {
				t.Fatalf("%d pages, %v", images.Pages(), err)
			}
			if top, bottom := img.At(20, 10), img.At(20, 50); img.Rect.Dx() != 64 || top != (color.Gray{}) ||
				bottom != (color.Gray{Y: 255}) {
				t.Errorf("%v: %v, %v", img.Rect, top, bottom)
			}
		})
	}
}

// A tile that is larger than it may be is not decoded.
func TestTileBomb(t *testing.T) {
	t.Parallel()
	var large bytes.Buffer
	if err := jpeg.Encode(&large, image.NewGray(image.Rect(0, 0, 8000, 8000)), nil); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a.tif")
	if err := os.WriteFile(path, tiffOf(binary.LittleEndian, false, 7, [][]byte{large.Bytes(), nil}), 0o600); err != nil {
		t.Fatal(err)
	}
	images, err := pageimage.OpenImages(t.Context(), path, "", 10, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer images.Close()
	if _, err := images.Decode(t.Context(), 1, pageimage.Size{}); err == nil {
		t.Error("it was decoded")
	}
}

func FuzzTIFF(f *testing.F) {
	f.Add(tiffOf(binary.LittleEndian, true, 7, strips(f, false)))
	f.Add(tiffOf(binary.BigEndian, false, 7, strips(f, true)))
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(t.TempDir(), "a.tif")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		images, err := pageimage.OpenImages(t.Context(), path, "", 10, nil)
		if err != nil {
			return
		}
		defer images.Close()
		for n := range images.Pages() {
			_, _ = images.Decode(t.Context(), n+1, pageimage.Size{Pixels: 1 << 20}) // damage is an error
		}
	})
}
