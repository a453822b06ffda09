package cogneetest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// upload reads a form with one file; ok is false if it is not one, and then it is answered.
func upload(w http.ResponseWriter, r *http.Request) (name, content string, form map[string][]string, ok bool) {
	if err := r.ParseMultipartForm(64 << 20); err != nil {
		reply(w, http.StatusBadRequest, map[string]string{"detail": "There was an error parsing the body"})
		return "", "", nil, false
	}
	defer func() { _ = r.MultipartForm.RemoveAll() }()
	files := r.MultipartForm.File["data"]
	if len(files) != 1 {
		reply(w, http.StatusBadRequest, map[string]string{"error": "Provide at least one file in 'data'."})
		return "", "", nil, false
	}
	file, err := files[0].Open()
	if err != nil {
		reply(w, http.StatusInternalServerError, nil)
		return "", "", nil, false
	}
	defer func() { _ = file.Close() }() // read-only
	text, err := io.ReadAll(file)
	if err != nil {
		reply(w, http.StatusInternalServerError, nil)
		return "", "", nil, false
	}
	return strings.TrimSuffix(files[0].Filename, ".md"), string(text), r.MultipartForm.Value, true
}

func (s *Server) add(w http.ResponseWriter, r *http.Request) {
	name, content, form, ok := upload(w, r)
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Context().Err() != nil {
		return // the client was killed, and the next one may have sent more
	}
	dataset := strings.Join(form["datasetName"], "")
	if dataset == "" || strings.ContainsAny(dataset, " .") {
		reply(w, http.StatusInternalServerError, map[string]string{"error": "Internal server error"})
		return
	}
	var metadata []map[string]any
	if err := json.Unmarshal([]byte(strings.Join(form["external_metadata"], "")), &metadata); err != nil ||
		len(metadata) != 1 {
		reply(w, http.StatusBadRequest, map[string]string{"detail": "one entry per file [InvalidMetadataError]"})
		return
	}
	d := s.named(dataset)
	for _, one := range d.rows {
		if one.name == name && one.content != content {
			reply(w, http.StatusConflict, map[string]string{
				"error": "Document already exists; use the update endpoint",
				"detail": fmt.Sprintf("POST /api/v1/add does not update documents. '%s.md' (data_id %s) already exists in dataset "+
					"%s with different content. Send the new version to PATCH /api/v1/update?data_id=%s&dataset_id=%s (multipart "+
					"field 'data'), or cognee.update(...) from the SDK; identical content can be re-added and is a no-op.",
					name, one.id, d.id, one.id, d.id),
			})
			return
		}
	}
	at := slices.IndexFunc(d.rows, func(one *row) bool { return hash(one.content) == hash(content) })
	state := "PipelineRunAlreadyCompleted"
	if at < 0 {
		state, at = "PipelineRunCompleted", len(d.rows)
		d.rows = append(d.rows, &row{
			id: uuid.NewString(), name: name, content: content, nodeSet: form["node_set"], metadata: metadata[0],
		})
		s.changes = append(s.changes, Change{Add, name, content})
	} else {
		s.repeated++
	}
	reply(w, http.StatusOK, map[string]any{
		"status": "PipelineRunCompleted", "pipeline_run_id": uuid.NewString(), "dataset_id": d.id, "dataset_name": d.name,
		"data_ingestion_info": []any{map[string]any{"run_info": map[string]string{"status": state}, "data_id": d.rows[at].id}},
	})
}

func (s *Server) update(w http.ResponseWriter, r *http.Request) {
	name, content, form, ok := upload(w, r)
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Context().Err() != nil {
		return // as in add
	}
	d, one := s.row(r.URL.Query().Get("dataset_id"), r.URL.Query().Get("data_id"))
	if one == nil {
		reply(w, http.StatusNotFound, map[string]string{"detail": "No document found to update [UpdateTargetNotFoundError]"})
		return
	}
	state := "incremental"
	switch nodes := form["node_set"]; {
	case one.content == content && len(nodes) == 0 && one.inGraph:
		state = "unchanged"
	case len(nodes) > 0 || !one.inGraph || s.o.FullRebuilds:
		state = "full_rebuild"
		one.nodeSet, one.metadata = nodes, nil
	}
	if one.content == content {
		s.repeated++
	} else {
		s.changes = append(s.changes, Change{Update, name, content})
	}
	one.name, one.content, one.inGraph = name, content, true
	reply(w, http.StatusOK, map[string]any{
		"status": state, "data_id": one.id, "dataset_id": d.id, "duration_seconds": 0.1, "pipeline_run_id": uuid.NewString(),
	})
}

func (s *Server) forget(w http.ResponseWriter, r *http.Request) {
	var q struct{ DatasetID, DataID string }
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil || q.DataID == "" || q.DatasetID == "" {
		reply(w, http.StatusUnprocessableEntity, map[string]string{"error": "Invalid request parameters."})
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d, one := s.row(q.DatasetID, q.DataID)
	if d == nil { // as Cognee words it
		reply(w, http.StatusForbidden, map[string]string{"detail": "no permission [PermissionDeniedError]"})
		return
	}
	if one == nil {
		s.repeated++
	} else {
		d.rows = slices.DeleteFunc(d.rows, func(x *row) bool { return x == one })
		s.changes = append(s.changes, Change{Endpoint: Forget, Document: one.name})
	}
	reply(w, http.StatusOK, map[string]string{"data_id": q.DataID, "dataset_id": q.DatasetID, "status": "success"})
}

// row finds a row; nil: there is no such dataset or row.
func (s *Server) row(dataset, id string) (*dataset, *row) {
	d := s.datasets[dataset]
	if d == nil {
		return nil, nil
	}
	if at := slices.IndexFunc(d.rows, func(x *row) bool { return x.id == id }); at >= 0 {
		return d, d.rows[at]
	}
	return d, nil
}

func (s *Server) cognify(w http.ResponseWriter, r *http.Request) {
	var q struct {
		DatasetIDs      []string
		RunInBackground bool
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil || len(q.DatasetIDs) != 1 || !q.RunInBackground {
		reply(w, http.StatusBadRequest, map[string]string{"error": "No datasets or dataset_ids provided"})
		return
	}
	d := s.datasets[q.DatasetIDs[0]]
	if d == nil {
		reply(w, http.StatusNotFound, map[string]string{"detail": "no dataset [DatasetNotFoundError]"})
		return
	}
	d.run, d.polls = "DATASET_PROCESSING_STARTED", s.o.Polls
	d.cognified++
	reply(w, http.StatusOK, map[string]any{d.id: map[string]string{
		"status": "PipelineRunStarted", "pipeline_run_id": uuid.NewString(), "dataset_id": d.id, "dataset_name": d.name,
	}})
}

func (s *Server) status(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	states := map[string]string{}
	for _, id := range r.URL.Query()["dataset"] {
		d := s.datasets[id]
		if d == nil {
			reply(w, http.StatusForbidden, map[string]string{"detail": "no permission [PermissionDeniedError]"})
			return
		}
		if d.run == "DATASET_PROCESSING_STARTED" && d.polls <= 0 {
			d.run = "DATASET_PROCESSING_COMPLETED"
			for _, one := range d.rows {
				one.inGraph = true
			}
		}
		d.polls--
		if d.run != "" {
			states[id] = d.run
		}
	}
	reply(w, http.StatusOK, states)
}

func (s *Server) list(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []map[string]string{}
	for _, d := range s.datasets {
		all = append(all, map[string]string{"id": d.id, "name": d.name, "createdAt": "2026-01-01T00:00:00Z"})
	}
	reply(w, http.StatusOK, all)
}

func (s *Server) items(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.datasets[r.PathValue("id")]
	if d == nil {
		reply(w, http.StatusNotFound, map[string]string{"message": "Dataset not found."})
		return
	}
	limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
	offset, err2 := strconv.Atoi(r.URL.Query().Get("offset"))
	if err != nil || err2 != nil || limit < 1 || limit > 1000 {
		reply(w, http.StatusBadRequest, map[string]any{"detail": []any{}})
		return
	}
	all := []map[string]any{}
	for i, one := range d.rows {
		if i >= offset && len(all) < limit {
			all = append(all, map[string]any{"id": one.id, "name": one.name, "extension": "md", "datasetId": d.id})
		}
	}
	reply(w, http.StatusOK, all)
}
