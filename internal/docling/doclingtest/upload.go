package doclingtest

import (
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

func (s *Server) submit(w http.ResponseWriter, r *http.Request) {
	u, problem := readUpload(r)
	if problem != nil {
		answer(w, http.StatusUnprocessableEntity, map[string]any{"detail": problem})
		return
	}
	most := s.options.MaxTimeout
	if most == 0 {
		most = 7 * day
	}
	if v := u.Fields["document_timeout"]; len(v) > 0 {
		if seconds, _ := strconv.ParseFloat(v[0], 64); seconds > most.Seconds() {
			answer(w, http.StatusUnprocessableEntity, map[string]any{
				"detail": "document_timeout exceeds the configured maximum of " +
					strconv.FormatFloat(most.Seconds(), 'f', 1, 64) + " seconds.",
			})
			return
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &task{id: strings.ToLower(rand.Text()), upload: u}
	if len(s.plans) > 0 {
		t.plan, s.plans = s.plans[0], s.plans[1:]
	}
	s.uploads = append(s.uploads, u)
	s.tasks[t.id] = t
	s.order = append(s.order, t)
	s.schedule()
	s.status(w, t)
}

// invalid is an entry of FastAPI's list of validation errors.
type invalid struct {
	Type string   `json:"type"`
	Loc  []string `json:"loc"`
	Msg  string   `json:"msg"`
}

// choices are the allowed values of some options.
var choices = map[string][]string{
	"target_type": {"inbody", "zip", "presigned_url"}, "image_export_mode": {"placeholder", "embedded", "referenced"},
	"to_formats": {"md", "json", "yaml", "html", "html_split_page", "text", "doctags", "vtt", "doclang", "dclx"},
	"do_ocr":     {"true", "false"}, "force_ocr": {"true", "false"}, "include_images": {"true", "false"},
	"do_pdf_heading_hierarchy": {"true", "false"},
}

func readUpload(r *http.Request) (u Upload, problem any) {
	u = Upload{Fields: map[string][]string{}, Tenant: r.Header.Get("X-Tenant-Id")}
	form, err := r.MultipartReader()
	if err != nil {
		return u, []invalid{{"missing", []string{"body", "files"}, "Field required"}}
	}
	files := 0
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return u, "There was an error parsing the body"
		}
		raw, err := io.ReadAll(part)
		if err != nil {
			return u, "There was an error parsing the body"
		}
		if part.FormName() == "files" && part.FileName() != "" {
			files++
			u.Name, u.Size = part.FileName(), len(raw)
			continue
		}
		u.Fields[part.FormName()] = append(u.Fields[part.FormName()], string(raw))
	}
	if files == 0 {
		return u, []invalid{{"missing", []string{"body", "files"}, "Field required"}}
	}
	return u, u.check()
}

func (u Upload) check() any {
	var problems []invalid
	for name, values := range u.Fields {
		for _, v := range values {
			if known := choices[name]; known != nil && !slices.Contains(known, v) {
				problems = append(problems, invalid{
					"enum", []string{"body", name}, "Input should be " + strings.Join(known, " or "),
				})
			}
		}
	}
	if v := u.Fields["document_timeout"]; len(v) > 0 {
		if seconds, err := strconv.ParseFloat(v[0], 64); err != nil {
			problems = append(problems, invalid{
				"float_parsing", []string{"body", "document_timeout"}, "Input should be a valid number",
			})
		} else if seconds <= 0 {
			return "document_timeout must be greater than 0."
		}
	}
	if problems == nil {
		return nil
	}
	return problems
}
