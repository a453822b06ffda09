package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"time"
)

// The stand-in of the model that the worker and its peers share: OpenAI's embeddings over HTTP, in a process of its
// own, with a fixed latency for each call. Its vectors are made before the first call, so that an answer costs it
// hardly any CPU time.
const (
	peerModel   = "text-embedding-3-small"
	peerVectors = 512 // different ones
)

// embeddings answers calls. Equal texts have equal vectors.
type embeddings struct {
	base64, floats [peerVectors]json.RawMessage
}

func newEmbeddings() (*embeddings, error) {
	e := &embeddings{}
	r := rand.New(rand.NewPCG(22, ingestWidth))
	for i := range peerVectors {
		vector, raw, square := make([]float32, ingestWidth), make([]byte, 0, 4*ingestWidth), 0.0
		for d := range vector {
			x := r.NormFloat64()
			vector[d], square = float32(x), square+x*x
		}
		for d := range vector {
			vector[d] /= float32(math.Sqrt(square))
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(vector[d]))
		}
		var err error
		if e.floats[i], err = json.Marshal(vector); err != nil {
			return nil, err
		}
		if e.base64[i], err = json.Marshal(base64.StdEncoding.EncodeToString(raw)); err != nil {
			return nil, err
		}
	}
	return e, nil
}

func (e *embeddings) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	arrived := time.Now()
	var request struct {
		Input  json.RawMessage `json:"input"`
		Model  string          `json:"model"`
		Format string          `json:"encoding_format"`
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	inputs, err := inputsOf(request.Input)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	vectors := &e.floats
	if request.Format == "base64" {
		vectors = &e.base64
	}
	var out bytes.Buffer
	out.WriteString(`{"object":"list","data":[`)
	size := 0
	for i, input := range inputs {
		if i > 0 {
			out.WriteByte(',')
		}
		h := fnv.New32a()
		_, _ = h.Write(input) // never fails
		fmt.Fprintf(&out, `{"object":"embedding","index":%d,"embedding":%s}`, i, vectors[h.Sum32()%peerVectors])
		size += len(input)
	}
	tokens := size/4 + 1
	fmt.Fprintf(&out, `],"model":%q,"usage":{"prompt_tokens":%d,"total_tokens":%d}}`, request.Model, tokens, tokens)
	select {
	case <-time.After(ingestLatency - time.Since(arrived)):
	case <-r.Context().Done():
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(out.Bytes()) // an error: the client has gone
}

// inputsOf are the texts of a call, or lists of token numbers, as JSON; or the only one.
func inputsOf(raw json.RawMessage) ([]json.RawMessage, error) {
	var inputs []json.RawMessage
	if err := json.Unmarshal(raw, &inputs); err != nil {
		inputs = []json.RawMessage{raw}
	}
	if len(inputs) == 0 {
		return nil, errors.New("no input")
	}
	return inputs, nil
}

// serveModel serves on a free port, prints the base of its addresses, and ends with its standard input.
func serveModel(out io.Writer, in io.Reader) int {
	e, err := newEmbeddings()
	if err != nil {
		fmt.Fprintln(os.Stderr, "model:", err)
		return 1
	}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, "model:", err)
		return 1
	}
	mux := http.NewServeMux()
	mux.Handle("POST /v1/embeddings", e)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }() // ends with Close
	fmt.Fprintf(out, "http://%s/v1\n", listener.Addr())
	_, _ = io.Copy(io.Discard, in)
	_ = server.Close()
	return 0
}
