package xml

import (
	"context"
	"errors"
	"slices"

	"github.com/seed-7227ef26/async-worker/internal/gateway"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// adoptable is how many claims back a blob is looked for.
const adoptable = 8

// adopt looks for the blob of a claim that ended before its row was written. Its worker had checked the answer, and a
// blob is written as a whole or not at all. What a checked task makes in the end costs nothing.
func (w *work) adopt(ctx context.Context, q question, claim store.AnswerClaim) (*answer, error) {
	if q.step == string(Checked) {
		return nil, nil
	}
	for _, before := range w.candidates(q, claim) {
		f := store.AnswerFile{Blob: gateway.KeptBlob(q.key, before), HTTPStatus: 200}
		path, err := w.download(ctx, f)
		if errors.Is(err, errGone) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if f.SHA256, f.Bytes, err = digest(path, q.accept); err != nil {
			continue // somebody changed it
		}
		return &answer{path: path, AnswerFile: f}, nil
	}
	return nil, nil
}

// candidates are the claims whose blobs would answer a question, the last first. Where older answers must not be taken,
// because the task is forced or the kept answer does not count any more, they are the claims of this job's current series.
func (w *work) candidates(q question, claim store.AnswerClaim) (claims []int64) {
	if w.ownOnly(claim) {
		claims = w.claimed()[q.key]
		slices.Reverse(claims)
		return slices.DeleteFunc(claims, func(n int64) bool { return n >= claim.Claim })
	}
	for n := claim.Claim - 1; n >= max(gateway.FirstClaim(claim.Claim), claim.Claim-adoptable); n-- {
		claims = append(claims, n)
	}
	return claims
}

func (w *work) ownOnly(claim store.AnswerClaim) bool { return w.call.Task.Hints.Force || !claim.First }

// noteClaims is the note with the claims of the job's current series by question. A new series has none: a checkpoint ends
// with its series.
const noteClaims = "claims"

func (w *work) claimed() map[string][]int64 {
	claims := map[string][]int64{}
	w.memory.Note(noteClaims).Load(&claims)
	return claims
}

// remember notes a claim before it is paid for, if only the job's own will be adopted.
func (w *work) remember(ctx context.Context, q question, claim store.AnswerClaim) error {
	if q.step == string(Checked) || !w.ownOnly(claim) {
		return nil
	}
	claims := w.claimed()
	mine := claims[q.key]
	claims[q.key] = append(mine[max(0, len(mine)-adoptable+1):], claim.Claim)
	w.memory.Note(noteClaims).Save(claims)
	return w.call.Progress.Save(ctx)
}
