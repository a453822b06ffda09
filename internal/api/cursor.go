package api

import (
	"encoding/base64"
	"encoding/json"
)

// maxCursorText is the longest cursor of a list, in bytes.
const maxCursorText = 4096

// cursorOf makes an opaque text of a place in a list.
func cursorOf(place any) string { return base64.RawURLEncoding.EncodeToString(encode(place)) }

// placeOf reads the cursor of a list; empty: nil, the list's begin.
func placeOf[P any](cursor string) (*P, error) {
	if cursor == "" {
		return nil, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	place := new(P)
	if err != nil || len(cursor) > maxCursorText || json.Unmarshal(raw, place) != nil || string(raw) == "null" {
		return nil, invalid("query.cursor", "is not a cursor of this list; begin again without it")
	}
	return place, nil
}
