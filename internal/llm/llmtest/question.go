package llmtest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // formats that the service accepts
	_ "image/png"
	"io"
	"net/http"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/llm"
)

// ChatRequest is a decoded request for a chat completion.
type ChatRequest struct {
	Model       string
	Messages    []Message
	Text        string // of all messages, joined
	Images      []image.Image
	MediaTypes  []string // of the images
	Temperature *float64 // nil: not sent, and so 1
	MaxTokens   int      // zero: not sent
	Completion  bool     // MaxTokens was sent as max_completion_tokens

	Tools  []llm.Tool
	Choice string      // tool_choice: "", "none", "auto", "required", or "function"
	Forced string      // the tool that tool_choice names
	Format string      // the type of response_format: "", "text", "json_object" or "json_schema"
	Schema *llm.Schema // of the format json_schema
	Stream bool
	Usage  bool // stream_options.include_usage

	Raw json.RawMessage // the body as received
}

// Message is one message of a conversation.
type Message struct {
	Role  string // system, developer, user, assistant or tool
	Text  string
	Calls []llm.ToolCall // of the assistant
	Call  string         // tool_call_id
	bare  bool           // it has no content
}

// Find returns the tool with that name, or nil.
func (r ChatRequest) Find(tool string) *llm.Tool {
	for i := range r.Tools {
		if r.Tools[i].Name == tool {
			return &r.Tools[i]
		}
	}
	return nil
}

// System returns the text of the system and developer messages.
func (r ChatRequest) System() string {
	var texts []string
	for _, m := range r.Messages {
		if m.Role == "system" || m.Role == "developer" {
			texts = append(texts, m.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// Last returns the last message.
func (r ChatRequest) Last() Message { return r.Messages[len(r.Messages)-1] }

// chatBody is the JSON of the request.
type chatBody struct {
	Model     string        `json:"model"`
	MaxTokens int           `json:"max_tokens"`
	MaxNew    int           `json:"max_completion_tokens"`
	Heat      *float64      `json:"temperature"`
	Messages  []chatMessage `json:"messages"`
	Tools     []struct {
		Type     string `json:"type"`
		Function struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
			Strict      bool            `json:"strict"`
		} `json:"function"`
	} `json:"tools"`
	Choice json.RawMessage `json:"tool_choice"` // a word, or a function
	Format *struct {
		Type   string `json:"type"`
		Schema *struct {
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"schema"`
			Strict bool            `json:"strict"`
		} `json:"json_schema"`
	} `json:"response_format"`
	Stream  bool `json:"stream"`
	Options struct {
		Usage bool `json:"include_usage"`
	} `json:"stream_options"`
}

type chatMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"` // a string, or parts
	Call    string          `json:"tool_call_id"`
	Calls   []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

type chatPart struct {
	Type  string `json:"type"`
	Text  string `json:"text"`
	Image struct {
		URL string `json:"url"`
	} `json:"image_url"`
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
	request := ChatRequest{
		Model: b.Model, Temperature: b.Heat, MaxTokens: max(b.MaxTokens, b.MaxNew), Completion: b.MaxNew > 0,
		Stream: b.Stream, Usage: b.Options.Usage, Raw: raw,
	}
	for _, m := range b.Messages {
		if err := request.addMessage(m); err != nil {
			return request, err
		}
	}
	if len(b.Messages) == 0 {
		return request, errors.New("messages is empty")
	}
	return request, request.addTools(b)
}

func (r *ChatRequest) addMessage(m chatMessage) error {
	message := Message{Role: m.Role, Call: m.Call, bare: len(m.Content) == 0 || string(m.Content) == "null"}
	for _, c := range m.Calls {
		message.Calls = append(message.Calls, llm.ToolCall{
			ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments,
		})
	}
	if !message.bare && json.Unmarshal(m.Content, &message.Text) != nil {
		var parts []chatPart
		if err := json.Unmarshal(m.Content, &parts); err != nil {
			return err
		}
		for _, p := range parts {
			if err := r.addPart(&message, p); err != nil {
				return err
			}
		}
	}
	r.Text += message.Text
	r.Messages = append(r.Messages, message)
	return nil
}

// addPart adds a part of a message: a text, or an image as a data URI.
func (r *ChatRequest) addPart(m *Message, p chatPart) error {
	if p.Type == "text" {
		m.Text += p.Text
		return nil
	}
	media, data, ok := strings.Cut(strings.TrimPrefix(p.Image.URL, "data:"), ";base64,")
	if p.Type != "image_url" || !ok {
		return fmt.Errorf("a part of the unknown type %q", p.Type)
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

func (r *ChatRequest) addTools(b chatBody) error {
	for _, t := range b.Tools {
		f := t.Function
		if t.Type != "function" || f.Name == "" {
			return fmt.Errorf("a tool of the type %q named %q", t.Type, f.Name)
		}
		r.Tools = append(r.Tools, llm.Tool{
			Name: f.Name, Description: f.Description, Parameters: f.Parameters, Strict: f.Strict,
		})
	}
	if b.Format != nil {
		r.Format = b.Format.Type
		if s := b.Format.Schema; s != nil {
			r.Schema = &llm.Schema{Name: s.Name, Schema: s.Schema, Strict: s.Strict}
		}
	}
	if len(b.Choice) == 0 || json.Unmarshal(b.Choice, &r.Choice) == nil {
		return nil
	}
	var choice struct {
		Type     string `json:"type"`
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	err := json.Unmarshal(b.Choice, &choice)
	r.Choice, r.Forced = choice.Type, choice.Function.Name
	return err
}
