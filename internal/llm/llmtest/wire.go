package llmtest

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/llm/offline"
)

// body is the JSON of a request.
type body struct {
	Input      json.RawMessage `json:"input"` // a string or a list of strings
	Model      string          `json:"model"`
	Format     string          `json:"encoding_format"`
	Dimensions int             `json:"dimensions"`
}

// embedding is the JSON of one result.
type embedding struct {
	Object    string `json:"object"`
	Index     int    `json:"index"`
	Embedding any    `json:"embedding"` // []float32, or the base64 of their little-endian bytes
}

type usage struct {
	PromptTokens int `json:"prompt_tokens"`
	TotalTokens  int `json:"total_tokens"`
}

type answer struct {
	Object string      `json:"object"`
	Data   []embedding `json:"data"`
	Model  string      `json:"model"`
	Usage  usage       `json:"usage"`
}

// serve answers one request; deployment is empty for OpenAI's own protocol.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, authorized bool, deployment string) {
	request, err := decode(r)
	if deployment != "" {
		request.Model = deployment
	}
	size := 0
	for _, input := range request.Inputs {
		size += s.tokens.Count(input)
	}
	fault, header := s.begin(request, size)
	defer s.end()
	maps.Copy(w.Header(), header)
	maps.Copy(w.Header(), s.options.Header)
	if s.refuses(w, r, fault, authorized, err) {
		return
	}
	tokens, refused := s.check(request)
	if refused != nil {
		refused.write(w)
		return
	}
	s.answer(r.Context(), w, request, fault, tokens)
}

// refuses answers a request that has a fault, is unauthorized or can't be decoded, and reports whether it did.
func (s *Server) refuses(w http.ResponseWriter, r *http.Request, fault Fault, authorized bool, malformed error) bool {
	if fault.Before != nil {
		fault.Before()
	}
	switch {
	case fault.Hang && fault.Midway == 0:
		s.hang(r.Context())
	case fault.Status != 0 && fault.Midway == 0:
		fault.write(w)
	case !authorized:
		WrongKey.write(w)
	case malformed != nil:
		(Fault{Status: http.StatusBadRequest, Message: malformed.Error()}).write(w)
	default:
		return false
	}
	return true
}

// hang waits until the client gives up or the server closes.
func (s *Server) hang(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-s.closing:
	}
}

func decode(r *http.Request) (Request, error) {
	request := Request{Path: r.URL.RequestURI(), Header: r.Header.Clone()}
	raw, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, 64<<20))
	if err != nil {
		return request, err
	}
	var b body
	if err := json.Unmarshal(raw, &b); err != nil {
		return request, err
	}
	request.Model, request.Format, request.Dimensions = b.Model, b.Format, b.Dimensions
	if err := json.Unmarshal(b.Input, &request.Inputs); err == nil {
		return request, nil
	}
	var one string
	err = json.Unmarshal(b.Input, &one)
	request.Inputs = []string{one}
	return request, err
}

// check enforces the service's limits.
func (s *Server) check(r Request) (tokens int, refused *Fault) {
	bad := func(param, format string, args ...any) (int, *Fault) {
		return 0, &Fault{Status: http.StatusBadRequest, Param: param, Message: fmt.Sprintf(format, args...)}
	}
	if len(r.Inputs) == 0 || len(r.Inputs) > MaxInputs {
		return bad("input", "%d inputs", len(r.Inputs))
	}
	if r.Dimensions != 0 && !strings.Contains(r.Model, "text-embedding-3-") {
		return bad("dimensions", "This model does not support specifying dimensions.")
	}
	for _, input := range r.Inputs {
		n := s.tokens.Count(input)
		if n == 0 || n > MaxInputTokens {
			return bad("", "an input of %d tokens", n)
		}
		if s.options.Poison != "" && strings.Contains(input, s.options.Poison) {
			return bad("", "'$.input' is invalid: %s", input)
		}
		tokens += n
	}
	if tokens > MaxRequestTokens {
		return bad("input", "Requested %d tokens, max %d tokens per request", tokens, MaxRequestTokens)
	}
	return tokens, nil
}

func (s *Server) answer(ctx context.Context, w http.ResponseWriter, r Request, fault Fault, tokens int) {
	data, err := s.embed(ctx, r, fault)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	s.bill(len(r.Inputs), tokens)
	raw, err := json.Marshal(answer{Object: "list", Data: data, Model: r.Model, Usage: usage{tokens, tokens}})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", fmt.Sprint(len(raw)))
	if fault.Cut { // less than Content-Length: the server then closes the connection
		raw = raw[:len(raw)/2]
	}
	// An error means that the client has gone.
	_, _ = w.Write(raw)
}

// embed makes vectors that are near if their texts share words, and spoils them as the fault demands.
func (s *Server) embed(ctx context.Context, r Request, fault Fault) ([]embedding, error) {
	length := s.options.Dimensions
	if r.Dimensions != 0 {
		length = r.Dimensions
	}
	if fault.Dimensions != 0 {
		length = fault.Dimensions
	}
	hasher, err := offline.New(length)
	if err != nil {
		return nil, err
	}
	var data []embedding
	for i := range max(0, len(r.Inputs)+fault.Extra) {
		vectors, err := hasher.Embed(ctx, []string{r.Inputs[i%len(r.Inputs)]})
		if err != nil {
			return nil, err
		}
		vector := vectors.Vectors[0]
		for j := range vector {
			vector[j] *= 2 // not every compatible server normalizes
		}
		if fault.NaN && i == 0 {
			vector[0] = float32(math.NaN())
		}
		e := embedding{Object: "embedding", Index: i, Embedding: vector}
		if fault.SameIndex {
			e.Index = 0
		}
		if r.Format == "base64" && !s.options.FloatsOnly {
			e.Embedding = encode(vector)
		}
		data = append(data, e)
	}
	if s.options.Reverse {
		slices.Reverse(data)
	}
	return data, nil
}

func encode(vector []float32) string {
	raw := make([]byte, 0, 4*len(vector))
	for _, x := range vector {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	return base64.StdEncoding.EncodeToString(raw)
}
