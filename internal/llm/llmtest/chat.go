package llmtest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // takes what the service takes
	_ "image/png"
	"io"
	"maps"
	"net/http"
	"strings"
)

// imageTokens is what an image costs.
const imageTokens = 765

// ChatRequest is what one request for a chat completion asked for.
type ChatRequest struct {
	Model       string
	Text        string // of all messages
	Images      []image.Image
	MediaTypes  []string // of the images
	Temperature *float64 // nil: not sent, and so 1
	MaxTokens   int      // zero: not sent
	Completion  bool     // MaxTokens was sent as max_completion_tokens
}

// Reply is what the model says. When it has more tokens than were asked for, it is cut off.
type Reply struct {
	Text    string
	Refusal string
	Finish  string // finish_reason; empty: "stop", or "length"
	None    bool   // no choice at all
}

// chatBody is the request on the wire.
type chatBody struct {
	Model     string   `json:"model"`
	MaxTokens int      `json:"max_tokens"`
	MaxNew    int      `json:"max_completion_tokens"`
	Heat      *float64 `json:"temperature"`
	Messages  []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"` // a string, or parts
	} `json:"messages"`
}

type chatPart struct {
	Type  string `json:"type"`
	Text  string `json:"text"`
	Image struct {
		URL string `json:"url"`
	} `json:"image_url"`
}

// chat answers one request.
func (s *Server) chat(w http.ResponseWriter, r *http.Request, authorized bool, deployment string) {
	request, err := decodeChat(r)
	if deployment != "" {
		request.Model = deployment
	}
	fault := s.begin(Request{Path: r.URL.RequestURI(), Model: request.Model, Header: r.Header.Clone(), Chat: &request})
	defer s.end()
	maps.Copy(w.Header(), s.options.Header)
	if s.refuses(w, r, fault, authorized, err) {
		return
	}
	if refused := s.checkChat(request); refused != nil {
		refused.write(w)
		return
	}
	reply := Reply{Text: "An answer."}
	if s.options.Reply != nil {
		reply = s.options.Reply(request)
	}
	raw, err := json.Marshal(s.completion(request, reply))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", fmt.Sprint(len(raw)))
	if fault.Cut {
		raw = raw[:len(raw)/2]
	}
	_, _ = w.Write(raw) // an error here is the client's going away
}

// checkChat refuses what the service refuses.
func (s *Server) checkChat(r ChatRequest) *Fault {
	switch {
	case s.options.Reasoning && r.MaxTokens > 0 && !r.Completion:
		return &Fault{Status: http.StatusBadRequest, Code: "unsupported_parameter", Param: "max_tokens", Message: "use max_completion_tokens"}
	case s.options.Reasoning && r.Temperature != nil && *r.Temperature != 1:
		return &Fault{Status: http.StatusBadRequest, Code: "unsupported_value", Param: "temperature", Message: "only the default (1) value is supported"}
	case s.options.Poison != "" && strings.Contains(r.Text, s.options.Poison):
		return &Fault{Status: http.StatusBadRequest, Code: "content_filter", Param: "prompt", Message: "the response was filtered"}
	}
	return nil
}

// completion is the answer on the wire.
func (s *Server) completion(r ChatRequest, reply Reply) map[string]any {
	tokens := s.tokens.Count(reply.Text)
	finish := reply.Finish
	if finish == "" {
		finish = "stop"
	}
	if r.MaxTokens > 0 && tokens > r.MaxTokens {
		for tokens > r.MaxTokens {
			reply.Text = reply.Text[:len(reply.Text)*r.MaxTokens/tokens]
			tokens = s.tokens.Count(reply.Text)
		}
		finish = "length"
	}
	message := map[string]any{"role": "assistant", "content": reply.Text}
	if reply.Refusal != "" {
		message["content"], message["refusal"] = nil, reply.Refusal
	}
	choices := []any{map[string]any{"index": 0, "message": message, "finish_reason": finish}}
	if reply.None {
		choices = []any{}
	}
	prompt := s.tokens.Count(r.Text) + imageTokens*len(r.Images)
	s.bill(0, prompt+tokens)
	return map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion", "model": r.Model, "choices": choices,
		"usage": map[string]int{"prompt_tokens": prompt, "completion_tokens": tokens, "total_tokens": prompt + tokens},
	}
}

func decodeChat(r *http.Request) (ChatRequest, error) {
	raw, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, 64<<20))
	if err != nil {
		return ChatRequest{}, err
	}
	var b chatBody
	if err := json.Unmarshal(raw, &b); err != nil {
		return ChatRequest{}, err
	}
	request := ChatRequest{Model: b.Model, Temperature: b.Heat, MaxTokens: max(b.MaxTokens, b.MaxNew), Completion: b.MaxNew > 0}
	for _, m := range b.Messages {
		var text string
		if json.Unmarshal(m.Content, &text) == nil {
			request.Text += text
			continue
		}
		var parts []chatPart
		if err := json.Unmarshal(m.Content, &parts); err != nil {
			return request, err
		}
		for _, p := range parts {
			if err := request.add(p); err != nil {
				return request, err
			}
		}
	}
	if len(b.Messages) == 0 {
		return request, errors.New("messages is empty")
	}
	return request, nil
}

// add takes a part of a message: a text, or an image as a data URI.
func (r *ChatRequest) add(p chatPart) error {
	if p.Type == "text" {
		r.Text += p.Text
		return nil
	}
	media, data, ok := strings.Cut(strings.TrimPrefix(p.Image.URL, "data:"), ";base64,")
	if p.Type != "image_url" || !ok {
		return fmt.Errorf("a part of the type %q that is no image", p.Type)
	}
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return err
	}
	img, format, err := image.Decode(bytes.NewReader(raw))
	if err != nil || "image/"+format != media {
		return fmt.Errorf("an image of the type %s that is %s: %w", media, format, err)
	}
	r.Images, r.MediaTypes = append(r.Images, img), append(r.MediaTypes, media)
	return nil
}
