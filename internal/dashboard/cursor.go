package dashboard

import (
	"encoding/base64"
	"encoding/json"
	"net/http"

	"github.com/seed-7227ef26/async-worker/internal/api"
)

// maxCursor is the longest cursor of a list, in bytes.
const maxCursor = 4096

// cursorOf makes an opaque text of a place in a list; nil: empty.
func cursorOf[P any](place *P) string {
	if place == nil {
		return ""
	}
	raw, err := json.Marshal(place)
	if err != nil {
		return "" // places are texts and times
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

// placeOf reads the cursor of a page; without one: nil, the begin.
func placeOf[P any](r *http.Request) (*P, error) {
	text := r.URL.Query().Get("after")
	if text == "" {
		return nil, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	place := new(P)
	if err != nil || len(text) > maxCursor || json.Unmarshal(raw, place) != nil || string(raw) == "null" {
		return nil, &api.Problem{
			Status: http.StatusBadRequest, Code: "VALIDATION_ERROR",
			Detail: "This address is not of a page of this list. Begin again without it.",
		}
	}
	return place, nil
}

// cut cuts a list that was asked for with one more, and tells whether there is more.
func cut[T any](found []T, most int) ([]T, bool) {
	if len(found) > most {
		return found[:most], true
	}
	return found, false
}
