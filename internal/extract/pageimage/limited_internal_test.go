package pageimage

import "testing"

func TestLimited(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what             string
		images           *Images
		side, w, h, most int
		want             bool
	}{
		{"the resolution applies", nil, 0, 90, 100, 10_000, false},
		{"as large as it was asked for", nil, 100, 90, 100, 10_000, false},
		{"a PDF that would have too many pixels", nil, 150, 90, 100, 10_000, true},
		{"the same, on its side", nil, 150, 100, 90, 10_000, true},
		{"a long strip, which fits", nil, 150, 20, 149, 10_000, false},
		{"no image", nil, 150, 0, 0, 10_000, false},
		{"an image that is smaller by itself", &Images{}, 150, 90, 100, 10_000, false},
		{"an image that was made to fit", &Images{}, 150, 99, 101, 10_000, true},
	} {
		f := &File{opts: Options{Side: c.side, Pixels: c.most}, images: c.images}
		if got := f.Limited(c.w, c.h); got != c.want {
			t.Errorf("%s: %t", c.what, got)
		}
	}
}
