package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestResults: of a failing test the innermost one is named, and a package that fails outside its tests, or does
// not build, is reported as well.
func TestResults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lines  []string
		ended  error
		failed []testName
		passed int
	}{
		"passed": {[]string{
			`{"Action":"output","Package":"p","Test":"TestA","Output":"[rapid] OK, passed 100 tests (1s)\n"}`,
			`{"Action":"pass","Package":"p","Test":"TestA/x"}`, `{"Action":"pass","Package":"p","Test":"TestA"}`,
			`{"Action":"pass","Package":"p"}`,
		}, nil, nil, 2},
		"failed": {[]string{
			`{"Action":"fail","Package":"p","Test":"TestA/x"}`, `{"Action":"fail","Package":"p","Test":"TestA"}`,
			`{"Action":"pass","Package":"p","Test":"TestAB"}`, `{"Action":"fail","Package":"p"}`,
		}, errors.New("exit status 1"), []testName{{"p", "TestA/x"}}, 1},
		"failed once of twice": {[]string{
			`{"Action":"fail","Package":"p","Test":"TestA"}`, `{"Action":"pass","Package":"p","Test":"TestB"}`,
			`{"Action":"pass","Package":"p","Test":"TestA"}`, `{"Action":"pass","Package":"p","Test":"TestB"}`,
			`{"Action":"fail","Package":"p"}`,
		}, errors.New("exit status 1"), []testName{{"p", "TestA"}}, 1},
		"out of time": {[]string{
			`{"Action":"output","Package":"p","Test":"FuzzA","Output":"--- FAIL: FuzzA (2.23s)\n"}`,
			`{"Action":"output","Package":"p","Test":"FuzzA","Output":"    context deadline exceeded\n"}`,
			`{"Action":"fail","Package":"p","Test":"FuzzA"}`, `{"Action":"fail","Package":"p"}`,
		}, errors.New("exit status 1"), []testName{{"p", "FuzzA"}}, 0},
		"crasher": {[]string{
			`{"Action":"output","Package":"p","Test":"FuzzA","Output":"--- FAIL: FuzzA (2.23s)\n"}`,
			`{"Action":"output","Package":"p","Test":"FuzzA","Output":"    --- FAIL: FuzzA (0.00s)\n"}`,
			`{"Action":"output","Package":"p","Test":"FuzzA","Output":"    context deadline exceeded\n"}`,
			`{"Action":"fail","Package":"p","Test":"FuzzA"}`, `{"Action":"fail","Package":"p"}`,
		}, errors.New("exit status 1"), []testName{{"p", "FuzzA"}}, 0},
		"leaked": {[]string{
			`{"Action":"pass","Package":"p","Test":"TestA"}`,
			`{"Action":"output","Package":"p","Output":"goleak: found\n"}`,
			`{"Action":"fail","Package":"p"}`,
		}, errors.New("exit status 1"), []testName{{"p", ""}}, 1},
		"not built": {[]string{
			`{"ImportPath":"p [p.test]","Action":"build-output","Output":"syntax error\n"}`,
			`{"ImportPath":"p [p.test]","Action":"build-fail"}`,
			`{"Action":"fail","Package":"p","FailedBuild":"p [p.test]"}`,
		}, errors.New("exit status 1"), []testName{{"p", ""}}, 0},
		"no such package": {[]string{"no required module provides it"}, errors.New("exit status 1"), []testName{{}}, 0},
	} {
		r := newResults()
		fmt.Fprint(r, strings.Join(c.lines, "\n")+"\n")
		r.ended(c.ended, "")
		failed := slices.Collect(maps.Keys(r.failed()))
		if !slices.Equal(failed, c.failed) || r.count("pass") != c.passed {
			t.Errorf("%s: failed %v, passed %d", name, failed, r.count("pass"))
		}
		r.forgive("    context deadline exceeded\n")
		if after := slices.Collect(maps.Keys(r.failed())); len(after) > 0 && name == "out of time" || len(after) == 0 &&
			c.failed != nil && name != "out of time" {
			t.Errorf("%s: forgiven, failed is %v", name, after)
		}
		if name == "out of time" {
			continue
		}
		report := newReport(t.Context(), "model", 1, &bytes.Buffer{})
		report.take("model", r)
		if report.good() != (c.failed == nil) {
			t.Errorf("%s: the report has %v", name, report.found)
		}
	}
}
