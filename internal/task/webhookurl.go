package task

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// textMember is a member of a message whose value is a string: its name, and its value. The end of a value may be missing.
var textMember = regexp.MustCompile(`(?s)("(?:[^"\\]|\\.)*")(\s*:\s*)("(?:[^"\\]|\\.)*"?)`)

// HideWebhook returns the text of a message with no more of its webhook_url than scheme and host: the rest may hold a
// token, and is for those alone who may operate. It finds the URL wherever Decode does; a message that came as base64, or
// as a string, is unwrapped if it has one.
func HideWebhook(message string) string {
	text := bared(message)
	if hidden := hideMembers(text); hidden != text {
		return hidden
	}
	return message
}

// bared is a text without the layers that unwrap takes off, as far as it has any. Its end may be missing.
func bared(text string) string {
	for range maxLayers {
		trimmed := strings.Trim(text, space)
		if trimmed == "" || trimmed[0] == '{' {
			break
		}
		if trimmed[0] == '"' {
			var inner string
			if json.Unmarshal([]byte(trimmed), &inner) != nil &&
				json.Unmarshal([]byte(strings.TrimRight(trimmed, `\`)+`"`), &inner) != nil {
				break
			}
			text = inner
			continue
		}
		inner, ok := fromBase64(trimmed)
		if !ok {
			if inner, ok = fromBase64(trimmed[:len(trimmed)-1]); !ok {
				break
			}
		}
		text = inner
	}
	return text
}

// hideMembers hides the webhook_url of an object, and that in the data of an envelope.
func hideMembers(text string) string {
	return textMember.ReplaceAllStringFunc(text, func(member string) string {
		m := textMember.FindStringSubmatch(member)
		var name, value string
		if json.Unmarshal([]byte(m[1]), &name) != nil {
			return member
		}
		whole := json.Unmarshal([]byte(m[3]), &value) == nil
		switch name = strings.ToLower(name); {
		case name == "webhook_url" && whole:
			if value == hidden(value) {
				return member
			}
			value = hidden(value)
		case name == "webhook_url":
			value = "…"
		case (name == "data" || name == "data_base64") && whole:
			inner := HideWebhook(value)
			if inner == value {
				return member
			}
			value = inner
		case (name == "data" || name == "data_base64") && strings.Contains(m[3], "webhook_url"):
			value = "…"
		default:
			return member
		}
		return m[1] + m[2] + quotedJSON(value)
	})
}

// hidden is the scheme and the host of a URL.
func hidden(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return "…"
	}
	origin := u.Scheme + "://" + u.Host
	if text == origin {
		return text
	}
	return origin + "/…"
}

// quotedJSON is a text as JSON.
func quotedJSON(text string) string {
	raw, err := json.Marshal(text)
	if err != nil { // it can't fail: the text is a string
		return `"…"`
	}
	return string(raw)
}

// WebhookURLProblem returns why a webhook can't be sent to a URL, or "". It does not quote the URL, which may hold a
// token.
func WebhookURLProblem(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return "is not a URL"
	case u.Scheme == "":
		return "is not absolute"
	case u.Scheme != "http" && u.Scheme != "https":
		return "has the scheme " + quote(u.Scheme)
	case u.User != nil:
		return "has a user name in it"
	case u.Hostname() == "" || u.Opaque != "":
		return "has no host"
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return "has a port outside 1 to 65535"
		}
	}
	return ""
}
