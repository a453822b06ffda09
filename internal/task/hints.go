package task

import (
	"encoding/json"
	"math"
	"strconv"
	"time"
)

// Bounds on hints.
const (
	MaxTimeout      = 24 * time.Hour
	MaxWait         = 365 * 24 * time.Hour
	MaxResolution   = 100_000
	maxOutputFormat = 64 // bytes
)

// hints reads the hints, each in its own type or as a string that holds it.
func (d *decoder) hints() Hints {
	raw, there := d.take("hints")
	if !there {
		return Hints{}
	}
	f := &fields{place: d.place + "hints."}
	if err := json.Unmarshal(raw, &f.members); err != nil {
		d.bad("hints", "is "+kind(raw)+", not an object", "send an object, or leave it out")
		return Hints{}
	}
	h := Hints{Force: f.truth("force"), OutputFormat: f.text("output_format", maxOutputFormat), Priority: f.priority()}
	h.TimeoutSec = f.timeout()
	h.Timeout = time.Duration(h.TimeoutSec * float64(time.Second))
	h.MaxWaitSec = f.maxWait()
	h.MaxWait = time.Duration(h.MaxWaitSec * float64(time.Second))
	h.Resolution = f.resolution()
	if f.err != nil {
		d.fail(f.err)
	}
	d.ignored = f.rest()
	return h
}

func (f *fields) timeout() float64 {
	const remedy = "send a number of seconds from 0.001 to 86400, or leave it out"
	seconds, there := f.number("timeout_seconds", remedy)
	if there && f.err == nil && (seconds < 0.001 || seconds > MaxTimeout.Seconds()) {
		f.bad("timeout_seconds", "is "+strconv.FormatFloat(seconds, 'g', -1, 64), remedy)
		return 0
	}
	return seconds
}

func (f *fields) maxWait() float64 {
	const remedy = "send a number of seconds from 1 to 31536000, or leave it out"
	seconds, there := f.number("max_wait_seconds", remedy)
	if there && f.err == nil && (seconds < 1 || seconds > MaxWait.Seconds()) {
		f.bad("max_wait_seconds", "is "+strconv.FormatFloat(seconds, 'g', -1, 64), remedy)
		return 0
	}
	return seconds
}

// resolution never rejects a task: a number is rounded and clamped, anything else is treated as an unknown hint.
func (f *fields) resolution() int {
	raw, there := f.take("resolution")
	if !there {
		return 0
	}
	literal, ok := scalar(raw)
	if value, err := strconv.ParseFloat(literal, 64); ok && err == nil && value > 0 {
		return int(min(max(math.Round(value), 1), MaxResolution))
	}
	f.members["resolution"] = raw // for Ignored
	return 0
}
