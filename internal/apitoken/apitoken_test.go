package apitoken_test

import (
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/apitoken"
)

func TestTokens(t *testing.T) {
	t.Parallel()
	text, one, err := apitoken.New("frontend", apitoken.Submit)
	if err != nil || len(text) != 46 || !strings.HasPrefix(text, "aw_") || strings.Contains(one.String(), text) {
		t.Fatalf("%q, %s, %v", text, one, err)
	}
	_, two, err := apitoken.New("ops@example.org", apitoken.Operate)
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range []string{one.String() + "," + two.String(), "\n" + one.String() + "\n\n " + two.String() + "\n"} {
		if got, err := apitoken.Parse(list); err != nil || len(got) != 2 || got[0] != one || got[1] != two {
			t.Errorf("%q: %+v, %v", list, got, err)
		}
	}
	hash := strings.Repeat("ab", 32)
	for _, bad := range []string{
		text, "a:read", "a:all:" + hash, "a:read:" + hash[1:], "a:read:" + hash + "0", ":read:" + hash, "a b:read:" + hash,
		"a:read:" + hash + ",a:submit:" + strings.Repeat("cd", 32), "a:read:" + hash + ",b:read:" + hash,
	} {
		if got, err := apitoken.Parse(bad); err == nil || strings.Contains(err.Error(), text) || strings.Contains(err.Error(), hash) {
			t.Errorf("%q: %+v, %v", bad, got, err)
		}
	}
	if _, _, err := apitoken.New("a:b", apitoken.Read); err == nil {
		t.Error("a name with a colon was taken")
	}
}
