package rpc

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Limits of one call that writes chunks. Supabase's gateway refuses larger bodies, and ends an API call after a minute.
const (
	maxBatchChunks = 200
	maxBatchBytes  = 3 << 20
	maxKeys        = 1000
)

func (c *client) StageDocument(ctx context.Context, s store.Staging) (store.StagedVersion, error) {
	answer, err := call[struct {
		DocumentID   string               `json:"document_id"`
		Version      int                  `json:"version"`
		Active       *store.ActiveVersion `json:"active"`
		StagedKeys   map[int]string       `json:"staged_keys"`
		SupersededBy string               `json:"superseded_by"`
	}](ctx, c, "aw_stage_document", struct {
		store.Staging
		MayBeSuperseded bool `json:"may_be_superseded"` // this program knows the answer
	}{s, true})
	return store.StagedVersion(answer), err
}

func (c *client) MadeOf(ctx context.Context, documentID string) (store.DocumentBlobs, error) {
	return call[store.DocumentBlobs](ctx, c, "aw_made_of", struct {
		DocumentID string `json:"document_id"`
	}{documentID})
}

func (c *client) VersionKeys(ctx context.Context, documentID string, version int) ([]string, error) {
	return call[[]string](ctx, c, "aw_version_keys", struct {
		DocumentID string `json:"document_id"`
		Version    int    `json:"version"`
	}{documentID, version})
}

func (c *client) VersionContexts(
	ctx context.Context, documentID string, version int,
) (map[string]store.ChunkContext, error) {
	return call[map[string]store.ChunkContext](ctx, c, "aw_version_contexts", struct {
		DocumentID string `json:"document_id"`
		Version    int    `json:"version"`
	}{documentID, version})
}

func (c *client) KnownChunks(ctx context.Context, keys []string) (map[string]bool, error) {
	known := make(map[string]bool, len(keys))
	for batch := range slices.Chunk(keys, maxKeys) {
		answer, err := call[[]string](ctx, c, "aw_known_chunks", struct {
			Keys []string `json:"keys"`
		}{batch})
		if err != nil {
			return nil, err
		}
		for _, key := range answer {
			known[key] = true
		}
	}
	return known, nil
}

// stagedChunk is a chunk as aw_stage_chunks takes it: its vector is a text.
type stagedChunk struct {
	store.Chunk
	Embedding *string `json:"embedding,omitempty"`
}

type chunkBatch struct {
	store.Holder
	DocumentID string            `json:"document_id"`
	Version    int               `json:"version"`
	Model      string            `json:"model"`
	Chunks     []json.RawMessage `json:"chunks"`
}

// StageChunks may make several calls, each in its own transaction. Chunks that a call has staged remain when a later
// call fails.
func (c *client) StageChunks(ctx context.Context, s store.ChunkBatch) ([]string, error) {
	binary := c.inBinary(s.Chunks)
	encoded := make([]json.RawMessage, len(s.Chunks))
	for i, chunk := range s.Chunks {
		var err error
		if encoded[i], err = encodeChunk(chunk, binary == nil); err != nil {
			return nil, err
		}
	}
	var missing []string
	for start := 0; start < len(encoded); {
		end, size := start, 0
		for end < len(encoded) && end-start < maxBatchChunks &&
			(end == start || size+len(encoded[end]) <= maxBatchBytes) {
			size += len(encoded[end])
			end++
		}
		args := chunkBatch{s.Holder, s.DocumentID, s.Version, s.Model, encoded[start:end]}
		keys, err := c.stageChunks(ctx, binary, args, s.Chunks[start:end])
		if err != nil {
			return nil, err
		}
		missing = append(missing, keys...)
		start = end
	}
	slices.Sort(missing)
	return slices.Compact(missing), nil
}

func (c *client) StageTerms(ctx context.Context, p store.TermsPart) error {
	return c.run(ctx, "aw_stage_terms", p)
}

// inBinary returns the caller if it can send vectors in binary and there are enough of them. Nil: send them as texts.
func (c *client) inBinary(chunks []store.Chunk) VectorCaller {
	caller, ok := c.caller.(VectorCaller)
	vectors := 0
	for _, chunk := range chunks {
		if chunk.Embedding != nil {
			vectors++
		}
	}
	if !ok || vectors < caller.LeastVectors() {
		return nil
	}
	return caller
}

// missingKeys is the answer of aw_stage_chunks.
type missingKeys struct {
	Missing []string `json:"missing"`
}

// stageChunks makes one call.
func (c *client) stageChunks(
	ctx context.Context, binary VectorCaller, args chunkBatch, chunks []store.Chunk,
) ([]string, error) {
	if binary == nil {
		answer, err := call[missingKeys](ctx, c, "aw_stage_chunks", args)
		return answer.Missing, err
	}
	vectors := make([][]float32, len(chunks))
	for i, chunk := range chunks {
		vectors[i] = chunk.Embedding
	}
	inBinary := func(ctx context.Context, fn string, p json.RawMessage) (json.RawMessage, error) {
		return binary.CallWithVectors(ctx, fn, p, vectors)
	}
	answer, err := callBy[missingKeys](ctx, c, inBinary, "aw_stage_vectors", args)
	return answer.Missing, err
}

func encodeChunk(chunk store.Chunk, withVector bool) (json.RawMessage, error) {
	out := stagedChunk{Chunk: chunk}
	if err := checkVector(chunk.Embedding); err != nil {
		return nil, err
	}
	if chunk.Embedding != nil && withVector {
		text := vectorText(chunk.Embedding)
		out.Embedding = &text
	}
	b, err := json.Marshal(out)
	if err != nil {
		return nil, &taskerr.Error{
			Class: taskerr.InternalBug, Message: "chunk " + strconv.Itoa(chunk.Position) + " can't be encoded",
			Cause: err,
		}
	}
	return b, nil
}

// checkVector refuses components that are not finite.
func checkVector(v []float32) error {
	for i, x := range v {
		if f := float64(x); math.IsNaN(f) || math.IsInf(f, 0) {
			return taskerr.Errorf(taskerr.InternalBug, "component %d of an embedding is not a number", i)
		}
	}
	return nil
}

// vectorText writes a vector in pgvector's syntax. Five significant digits are more than the eleven bits of a halfvec.
func vectorText(v []float32) string {
	b := make([]byte, 0, 10*len(v)+2)
	b = append(b, '[')
	for i, x := range v {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(b, float64(x), 'g', 5, 32)
	}
	return string(append(b, ']'))
}
