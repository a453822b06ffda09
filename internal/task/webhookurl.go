package task

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// HideWebhook returns the text of a message with no more of its webhook_url than scheme and host: the rest may hold a
// token, and is for those alone who may operate. It finds the URL wherever Decode does, and where a message is not as it
// should be: in a list or object, or in what is not JSON. A message that came as base64, or as a string, is unwrapped if it
// has one.
func HideWebhook(message string) string {
	text := bared(message)
	hidden := hideMembers(text)
	if !json.Valid([]byte(text)) {
		hidden = hideLoose(hidden)
	}
	if hidden != text {
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

// hideMembers hides the webhook_url of an object, and that in the data of an envelope, in one pass: messages are listed
// by the hundred. The end of the text may be missing.
func hideMembers(text string) string {
	var out strings.Builder
	written := 0
	for at := strings.IndexByte(text, '"'); at >= 0; {
		name := text[at:literalEnd(text, at)]
		at += len(name)
		value := at + len(text[at:]) - len(strings.TrimLeft(text[at:], ": \t\r\n"))
		if kind := memberOf(name); kind != "" && value > at && value < len(text) && text[value] == '"' {
			at = literalEnd(text, value)
			if shown, hide := hideMember(kind, text[value:at]); hide {
				out.WriteString(text[written:value] + quotedJSON(shown))
				written = at
			}
		} else if kind == "webhook_url" && value > at && value < len(text) && strings.IndexByte("[{", text[value]) >= 0 {
			at = nestedEnd(text, value)
			out.WriteString(text[written:value] + quotedJSON("…"))
			written = at
		}
		next := strings.IndexByte(text[at:], '"')
		if next < 0 {
			break
		}
		at += next
	}
	return out.String() + text[written:]
}

// literalEnd is the end of the string literal that begins at a quote.
func literalEnd(text string, at int) int {
	for i := at + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// nestedEnd is the end of the list or object that begins at a bracket.
func nestedEnd(text string, at int) int {
	depth := 0
	for at < len(text) {
		switch text[at] {
		case '"':
			at = literalEnd(text, at)
			continue
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		at++
		if depth == 0 {
			break
		}
	}
	return at
}

// hideLoose hides what follows webhook_url in a text that is not JSON, for example a dictionary as Python prints it, or a
// form.
func hideLoose(text string) string {
	if !strings.Contains(strings.ToLower(text), "webhook_url") {
		return text
	}
	loose := regexp.MustCompile(`(?i)(webhook_url[\\'"\]]*\s*(?:=>|[:=])\s*[ub]?[\\'"]*)([\[{(][^\]})]*.?|[^\s'"&]+)`)
	return loose.ReplaceAllStringFunc(text, func(found string) string {
		parts := loose.FindStringSubmatch(found)
		return parts[1] + hidden(parts[2])
	})
}

// memberOf is the name of a member in which a URL may be, by its literal; empty: it is another one.
func memberOf(literal string) string {
	name := strings.Trim(literal, `"`)
	if strings.Contains(name, `\`) && json.Unmarshal([]byte(literal), &name) != nil {
		return ""
	}
	for _, one := range []string{"webhook_url", "data", "data_base64"} {
		if strings.EqualFold(name, one) {
			return one
		}
	}
	return ""
}

// hideMember is what is shown of such a member's value, by its literal, if a part of it is to be hidden.
func hideMember(name, value string) (shown string, hide bool) {
	var text string
	switch broken := json.Unmarshal([]byte(value), &text) != nil; {
	case broken:
		return "…", name == "webhook_url" || strings.Contains(value, "webhook_url")
	case name == "webhook_url":
		shown = hidden(text)
	default:
		shown = HideWebhook(text)
	}
	return shown, shown != text
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
