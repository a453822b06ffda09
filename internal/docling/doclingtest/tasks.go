package doclingtest

import (
	"net/http"
	"slices"
	"strconv"
	"time"
)

// task is one submitted file.
type task struct {
	id      string
	plan    Conversion
	upload  Upload
	began   time.Time // zero: queued
	fetched time.Time // zero: not yet
}

// finished reports whether the conversion has ended, with whatever result.
func (t *task) finished(now time.Time) bool {
	if t.plan.Held != nil {
		select {
		case <-t.plan.Held:
		default:
			return false
		}
	}
	return !t.began.IsZero() && now.Sub(t.began) >= t.plan.Takes
}

func (t *task) failed() bool { return t.plan.Failure != nil || t.plan.Bare != "" }

func (t *task) state(now time.Time) string {
	switch {
	case t.began.IsZero():
		return "pending"
	case !t.finished(now):
		return "started"
	case t.failed():
		return "failure"
	default: // also if the document failed
		return "success"
	}
}

const day = 24 * time.Hour

// schedule starts queued tasks while there are free workers. The caller holds mu.
func (s *Server) schedule() {
	now, busy := time.Now(), 0
	for _, t := range s.order {
		if !t.began.IsZero() && !t.finished(now) {
			busy++
		}
	}
	for _, t := range s.order {
		if t.began.IsZero() && (s.options.Workers == 0 || busy < s.options.Workers) {
			t.began = now
			busy++
		}
	}
}

// status writes a TaskStatusResponse. The caller holds mu.
func (s *Server) status(w http.ResponseWriter, t *task) {
	now := time.Now()
	body := map[string]any{
		"task_id": t.id, "task_type": "convert", "task_status": t.state(now), "task_position": nil, "task_meta": nil,
		"error_message": nil, "failure": nil,
	}
	position := 0
	for _, other := range s.order {
		if other.began.IsZero() {
			position++
		}
		if other == t && t.began.IsZero() {
			body["task_position"] = position
		}
	}
	if t.finished(now) {
		if f := t.plan.Failure; f != nil {
			body["failure"], body["error_message"] = failureOf(t), f.Message
		} else if t.plan.Bare != "" {
			body["error_message"] = t.plan.Bare
		}
	}
	answer(w, http.StatusOK, body)
}

// find returns a task that is still known. The caller holds mu.
func (s *Server) find(r *http.Request) *task {
	s.schedule()
	t := s.tasks[r.PathValue("task")]
	if t == nil || !t.fetched.IsZero() && time.Since(t.fetched) >= s.options.Removal {
		return nil
	}
	return t
}

// longPollStep is how often a waiting request checks whether the task has ended.
const longPollStep = 10 * time.Millisecond

func (s *Server) poll(w http.ResponseWriter, r *http.Request) {
	wait, _ := strconv.ParseFloat(r.URL.Query().Get("wait"), 64) // none: at once
	until := time.Now().Add(time.Duration(wait * float64(time.Second)))
	for s.options.LongPoll {
		s.mu.Lock()
		t := s.find(r)
		done := t == nil || t.finished(time.Now())
		s.mu.Unlock()
		if done || !time.Now().Before(until) {
			break
		}
		timer := time.NewTimer(longPollStep)
		select {
		case <-timer.C:
		case <-r.Context().Done():
			timer.Stop()
			return
		case <-s.closing:
			timer.Stop()
			return
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.find(r)
	if t == nil {
		answer(w, http.StatusNotFound, map[string]any{"detail": "Task not found."})
		return
	}
	s.status(w, t)
	if t.plan.Forget {
		delete(s.tasks, t.id)
	}
}

func failureOf(t *task) map[string]any {
	f := t.plan.Failure
	return map[string]any{
		"category": f.Category, "message": f.Message, "retryable": f.Retryable, "phase": "execution",
		"details": map[string]string{},
	}
}

func (s *Server) result(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.find(r)
	switch {
	case t == nil:
		answer(w, http.StatusNotFound, map[string]any{"detail": "Task not found."})
		return
	case !t.finished(time.Now()) || t.plan.Bare != "" || t.plan.Vanish:
		answer(w, http.StatusNotFound, map[string]any{
			"detail": "Task result not found. Please wait for a completion status.",
		})
		return
	case t.plan.Failure != nil:
		answer(w, http.StatusOK, map[string]any{"kind": "TaskFailureResult", "failure": failureOf(t)})
		return
	}
	if t.fetched.IsZero() {
		t.fetched = time.Now()
	}
	answer(w, http.StatusOK, s.response(t))
}

// response is a ConvertDocumentResponse.
func (s *Server) response(t *task) map[string]any {
	plan := t.plan
	status, document := plan.Status, plan.Document
	if status == "" {
		status = "success"
	}
	if document == nil && status != "failure" && status != "skipped" {
		document = s.options.Document
	}
	errs := []any{}
	for _, e := range plan.Errors {
		item := map[string]any{
			"component_type": "pipeline", "module_name": "StandardPdfPipeline", "error_message": e.Message,
			"category": e.Category, "page_no": nil,
		}
		if e.Page > 0 {
			item["page_no"] = e.Page
		}
		errs = append(errs, item)
	}
	var content, markdown any
	if document != nil {
		if slices.Contains(t.upload.Fields["to_formats"], "json") {
			content = document
		}
		if slices.Contains(t.upload.Fields["to_formats"], "md") {
			markdown = s.options.Markdown
		}
	}
	return map[string]any{
		"document": map[string]any{
			"filename": t.upload.Name, "md_content": markdown, "json_content": content, "html_content": nil,
			"text_content": nil, "doctags_content": nil, "doclang_content": nil,
		},
		"status": status, "errors": errs, "processing_time": plan.Takes.Seconds(), "timings": map[string]any{},
		"confidence": map[string]any{"parse_score": nil, "layout_score": 0.93, "mean_grade": "excellent"},
	}
}
