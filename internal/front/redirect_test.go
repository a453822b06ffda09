package front_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// A browser follows a redirect of a worker below the tenant's path alone, and by no other reading of it: after a redirect
// no policy confines what it sends, with the cookies of who is signed in to another tenant.
func TestRedirects(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.up("southhaven", func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Location"] = strings.Split(r.Header.Get("Want-Location"), " or ")
		status, _ := strconv.Atoi(r.Header.Get("Want-Status"))
		w.WriteHeader(status)
	})
	const at = "/t/southhaven/dashboard/jobs/x"
	for _, c := range []struct{ from, location, want string }{
		{at, "http://api.example/t/east-bay/x", ""},
		{at, "https://other.example/t/southhaven/x", ""},
		{at, "http://api.example@other.example/t/southhaven/x", ""},
		{at, "//api.example/t/east-bay/x", ""},
		{at, "///t/east-bay/x", ""},
		{at, "http:/t/east-bay/x", ""},
		{at, "http:../../../east-bay/x", ""},
		{at, "javascript:alert(1)", ""},
		{at, "../../../east-bay/x", ""},
		{at, "../../../southhaven%2f../east-bay/x", ""},
		{at, "/../east-bay/x", ""},
		{at, "/t/southhaven/%2e%2e/east-bay/x", ""},
		{at, "/%2e%2e/east-bay/x", ""},
		{at, "/..%2feast-bay/x", ""},
		{at, "/..\\east-bay/x", ""},
		{at, "\\t\\east-bay", ""},
		{at, "/\t../east-bay/x", ""},
		{at, "../../../southhaven", ""},
		{at, "/../southhaven-2/x", ""},
		{at, "http://api.example/t/east-bay/x or /v1", ""},
		{"/t/southhaven/%2F%2F|/x", "../../east-bay/x", "/t/southhaven//east-bay/x"}, // browsers would go up to /t/
		{at, ".%2e/../../east-bay/x", "/t/southhaven/dashboard/east-bay/x"},          // so would they here
		{at, "/v1/jobs/1", "/t/southhaven/v1/jobs/1"},
		{at, "/v1/blobs/a%2Fb%20c?of=%2e%2e/x&y#z", "/t/southhaven/v1/blobs/a%2Fb%20c?of=%2e%2e/x&y#z"},
		{at, "./../", "/t/southhaven/dashboard/"},
		{at, "?notice=done", at + "?notice=done"},
		{at, "http://api.example/t/southhaven/x", "/t/southhaven/x"},
		{at, "//api.example/t/southhaven/x", "/t/southhaven/x"},
		{at, "/v1 or http://api.example/t/east-bay/x", "/t/southhaven/v1"},
	} {
		for _, status := range []int{201, 301, 302, 303, 307, 308} {
			resp, _ := b.get(c.from, "Want-Location: "+c.location, "Want-Status: "+strconv.Itoa(status))
			want := status
			if c.want == "" && status != http.StatusCreated {
				want = http.StatusBadGateway
			}
			if got := resp.Header.Values("Location"); resp.StatusCode != want || strings.Join(got, " or ") != c.want {
				t.Errorf("%d to %q: %d to %q, want %d to %q", status, c.location, resp.StatusCode, got, want, c.want)
			}
		}
	}
	b.expect(at, http.StatusBadGateway, "BAD_REDIRECT", "Want-Location: /../east-bay/x", "Want-Status: 307")
}
