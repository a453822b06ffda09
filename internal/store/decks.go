package store

import (
	"context"
	"errors"
	"time"
)

// Decks are presentations that documents were converted to, and the right to work on a document.
type Decks interface {
	// HoldDocument lets the job work on its document until it ends: most jobs of its type may at once. It returns how many
	// decks the job has made before. Errors: *BusyError, ErrFenced.
	HoldDocument(ctx context.Context, h Holder, most int) (decks int, err error)
}

// Holds reports whether an attempt still has its job, as far as the store answers: then no other attempt has written, or
// will write, under the same names before this one ends.
func Holds(ctx context.Context, d Decks, h Holder, most int) bool {
	_, err := d.HoldDocument(ctx, h, most)
	_, busy := errors.AsType[*BusyError](err)
	return err == nil || busy // another job has the document, and this attempt its own
}

// EffectRecordDeck records a deck whose blobs are uploaded; its args are a DeckRecord. It adds deck_id and result_path to
// the result.
const EffectRecordDeck = "record_deck"

// DeckRecord are the arguments of EffectRecordDeck.
type DeckRecord struct {
	ID             string `json:"id"` // a UUID
	SourceFilename string `json:"source_filename"`
	SourceSHA256   string `json:"source_sha256"`
	Title          string `json:"title"`
	Slides         int    `json:"slides"`
	Blob           string `json:"blob"`         // the deck's JSON
	PreviewBlob    string `json:"preview_blob"` // empty: there is none
}

// DeckRow is a row of decks.
type DeckRow struct {
	DeckRecord
	JobID     string    `json:"job_id"`
	CreatedAt time.Time `json:"created_at"`
}
