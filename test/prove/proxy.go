package main

import (
	"bytes"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"
)

// fault is a fault that a proxy causes.
type fault string

const (
	passOn        fault = ""
	cutBefore     fault = "cut"           // the connection ends, the request was not carried out
	dropAnswer    fault = "forward, drop" // the request is carried out, the connection ends without its answer
	delayed       fault = "delay"         // the answer comes late
	delayedAnswer       = 400 * time.Millisecond
)

// faultPlan plans the faults of requests of a class, by their number from 1.
type faultPlan struct {
	mu    sync.Mutex
	plans map[string]map[int]fault // class → number → what
	seen  map[string]int
	done  map[string]map[fault]int // by class
}

func newFaultPlan() *faultPlan {
	return &faultPlan{plans: map[string]map[int]fault{}, seen: map[string]int{}, done: map[string]map[fault]int{}}
}

func (s *faultPlan) plan(class string, number int, m fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.plans[class] == nil {
		s.plans[class] = map[int]fault{}
	}
	s.plans[class][number] = m
}

// always plans for every request of a class that has no plan of its own.
func (s *faultPlan) always(class string, m fault) { s.plan(class, 0, m) }

// next counts a request and returns its fault. Requests of no class pass.
func (s *faultPlan) next(class string) fault {
	if class == "" {
		return passOn
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[class]++
	m, ok := s.plans[class][s.seen[class]]
	if !ok {
		m = s.plans[class][0]
	}
	if m != passOn {
		if s.done[class] == nil {
			s.done[class] = map[fault]int{}
		}
		s.done[class][m]++
	}
	return m
}

// count returns how often a fault happened to a class.
func (s *faultPlan) count(class string, m fault) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.done[class][m]
}

func (s *faultPlan) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b bytes.Buffer
	for _, class := range slices.Sorted(maps.Keys(s.plans)) {
		for _, n := range slices.Sorted(maps.Keys(s.plans[class])) {
			b.WriteString(class + "#" + strconv.Itoa(n) + " " + string(s.plans[class][n]) + "; ")
		}
	}
	return b.String()
}

// httpProxy is a proxy for an HTTP server. classify returns the class of a request; it may read the body.
type httpProxy struct {
	target   *url.URL
	faults   *faultPlan
	classify func(r *http.Request, body []byte) string
	client   *http.Transport
	*faultyServer
}

func newHTTPProxy(target string, s *faultPlan, classify func(*http.Request, []byte) string) (*httpProxy, error) {
	u, err := url.Parse(target)
	if err != nil {
		return nil, err
	}
	p := &httpProxy{
		target: u, faults: s, classify: classify, client: &http.Transport{
			MaxIdleConnsPerHost:   8,
			DisableCompression:    true,
			ResponseHeaderTimeout: 2 * time.Minute, // a server that hangs is a broken run, and no proof without an end
		},
	}
	p.faultyServer = newFaultyServer(p.ServeHTTP)
	return p, nil
}

func (p *httpProxy) close() {
	p.faultyServer.close()
	p.client.CloseIdleConnections()
}

// ServeHTTP forwards a whole request and reads its whole answer, so that the request of a dropped answer was
// carried out.
func (p *httpProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	class := p.classify(r, body)
	m := p.faults.next(class)
	if m == cutBefore {
		hangUp(w)
		return
	}
	if !p.pass(w, r) {
		return
	}
	defer p.enter(beginsIn(class, body))()
	// It is independent of its client: a request under way is carried out.
	out, err := http.NewRequest(r.Method, p.target.Scheme+"://"+p.target.Host+r.URL.RequestURI(), bytes.NewReader(body)) //nolint:noctx // see above
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	out.Header = r.Header.Clone()
	out.ContentLength = int64(len(body))
	out.Host = r.Host
	answer, err := p.client.RoundTrip(out)
	if err != nil {
		hangUp(w)
		return
	}
	text, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if err != nil || m == dropAnswer {
		hangUp(w)
		return
	}
	if m == delayed {
		sleep(r, delayedAnswer)
	}
	if !p.pass(w, r) {
		return
	}
	maps.Copy(w.Header(), answer.Header)
	w.WriteHeader(answer.StatusCode)
	_, _ = w.Write(text) // the client may be gone
}

// sleep ends early when the client goes away.
func sleep(r *http.Request, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
	}
}

// hangUp resets the connection without an answer.
func hangUp(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // ends it as well
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
