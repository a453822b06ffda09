package job

import "github.com/seed-7227ef26/async-worker/internal/task"

// Stage is a named part of a job's work and the progress, in percent, at which it starts.
type Stage struct {
	Name  string
	Start int // 0-100
}

// Stages lists the stages of the task types of the contract in their order. A handler of a type
// that is not listed brings its own.
var Stages = map[task.Type][]Stage{
	task.Ingest: {
		{"validating_input", 0},
		{"fetching_source", 2},
		{"detecting", 10},
		{"parsing", 12},
		{"enriching", 45},
		{"chunking", 50},
		{"embedding", 55},
		{"indexing", 90},
		{"finalizing", 98},
	},
	task.Summarize: {
		{"validating_input", 0},
		{"fetching_source", 2},
		{"parsing", 10},
		{"preparing_context", 40},
		{"summarizing", 45},
		{"finalizing", 95},
	},
	task.Agent: {{"preparing_context", 0}, {"sending_prompt", 10}, {"streaming_response", 20}, {"finalizing", 95}},
	task.AI:    {{"preparing_context", 0}, {"sending_prompt", 10}, {"streaming_response", 20}, {"finalizing", 95}},
	task.OCR: {
		{"validating_input", 0},
		{"fetching_source", 2},
		{"rendering", 10},
		{"recognizing", 15},
		{"uploading_artifact", 90},
		{"finalizing", 98},
	},
	task.XML: {
		{"validating_input", 0},
		{"fetching_source", 2},
		{"converting", 10},
		{"checking", 50},
		{"uploading_artifact", 90},
		{"finalizing", 98},
	},
	task.Convert: {
		{"validating_input", 0},
		{"fetching_source", 5},
		{"extracting", 15},
		{"normalizing", 55},
		{"generating_preview", 80},
		{"finalizing", 90},
	},
	task.Export: {
		{"preparing", 0}, {"rendering_slides", 10}, {"packaging", 70}, {"uploading_artifact", 90}, {"finalizing", 98},
	},
}

// ProgressIn maps a fraction (0-1) of the named stage to the job's percent: from the stage's start
// up to, but not reaching, the start of the next. An unknown stage yields 0.
func ProgressIn(stages []Stage, name string, fraction float64) int {
	for i, s := range stages {
		if s.Name != name {
			continue
		}
		end := 100
		if i+1 < len(stages) {
			end = stages[i+1].Start
		}
		fraction = min(max(fraction, 0), 1)
		return min(s.Start+int(fraction*float64(end-s.Start)), max(s.Start, end-1))
	}
	return 0
}
