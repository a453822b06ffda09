package dashboard

import (
	"net/http"
	"strings"
)

// mostKept is how many bytes of a form are kept for somebody who is signed out.
const mostKept = 256 << 10

// signedOut is what the page says to somebody who sent a form and is not signed in.
type signedOut struct {
	Action string // where the form goes again; empty: it can't be kept
	Fields []fact
}

// keepForm answers a form of somebody who is signed out with a page that has what he has written, and a way to sign in
// beside it.
func (p *page) keepForm() {
	v := signedOut{Action: safeNext(strings.TrimPrefix(p.r.URL.EscapedPath(), Root+"/"))}
	p.r.Body = http.MaxBytesReader(p.w, p.r.Body, mostKept)
	if err := p.r.ParseForm(); err != nil || strings.HasPrefix(p.r.Header.Get("Content-Type"), "multipart/") {
		v.Action = ""
	}
	for name, values := range p.r.PostForm { //nolint:forbidigo // a request's form, no call of a client
		for _, value := range values {
			v.Fields = append(v.Fields, fact{name, value})
		}
	}
	p.must(p.send(http.StatusUnauthorized, "signedout", p.view("You are signed out", "", v)))
}
