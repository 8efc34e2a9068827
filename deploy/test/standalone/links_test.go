package standalone_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// linkB is a link of a provider-b response.
type linkB struct {
	Href   string `json:"href"`
	Method string `json:"method"`
}

// linksOf returns the links of a response by their names. The related transactions have the names
// of their paths.
func linksOf(t *testing.T, a restResponse) map[string]linkB {
	t.Helper()
	var body struct {
		Links map[string]jsontext.Value `json:"_links"`
	}
	if err := json.Unmarshal([]byte(a.Body), &body); err != nil || len(body.Links) == 0 {
		t.Fatalf("got %s, %v, want links", a.Body, err)
	}
	links := map[string]linkB{}
	for name, value := range body.Links {
		var related []linkB
		if json.Unmarshal(value, &related) == nil {
			for _, l := range related {
				links[l.Href] = l
			}
			continue
		}
		var l linkB
		if err := json.Unmarshal(value, &l); err != nil {
			t.Fatalf("%s: got %s, %v", name, value, err)
		}
		links[name] = l
	}
	return links
}

// TestLinksLeadBack follows the links of provider-b's responses, at the provider's own paths and
// below /compat. Each link stays below the path at which its request was received.
func TestLinksLeadBack(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir())
	for _, mount := range []string{"", "/compat/provider-b"} {
		t.Run("mount "+mount, func(t *testing.T) {
			t.Parallel()
			f := follower{restClientOf(t, p), mount}
			pay := func(sale bool) restResponse {
				return f.post(t, mount+restPayments, restPayment("12.00", "USD", sale, ""))
			}
			authorized := pay(false)
			captured := f.use(t, authorized, "capture", restAmount("12.00", ""))
			f.use(t, captured, "void", "{}")
			f.use(t, pay(false), "authReversal", restReversal("12.00", ""))
			sale := pay(true)
			f.use(t, sale, "void", "{}")
			f.post(t, mount+restPayments+"/"+pay(true).ID+"/refunds", restAmount("12.00", ""))
			f.post(t, mount+"/pts/v2/credits", restPayment("12.00", "USD", false, ""))
			declined := strings.Replace(withAddress(restPayment("12.00", "USD", false, "")), "73301", "46282", 1)
			f.post(t, mount+restPayments, declined)
		})
	}
}

// follower sends requests below a mount path.
type follower struct {
	client *restClient
	mount  string
}

// post sends a request. It follows the GET links of its response, and then the links that the
// responses to them have.
func (f follower) post(t *testing.T, path, body string) restResponse {
	t.Helper()
	a, err := f.client.do(t.Context(), http.MethodPost, path, body)
	if err != nil || a.HTTP != http.StatusCreated {
		t.Fatalf("%s: got %d %s, %v", path, a.HTTP, a.Body, err)
	}
	for _, first := range f.follow(t, a) {
		f.follow(t, first)
	}
	return a
}

// use sends a request to a link of a response.
func (f follower) use(t *testing.T, a restResponse, name, body string) restResponse {
	t.Helper()
	l := linksOf(t, a)[name]
	if l.Method != http.MethodPost {
		t.Fatalf("%s: got %+v in %s", name, l, a.Body)
	}
	return f.post(t, l.Href, body)
}

// follow checks the links of a response and returns the responses to its GET links.
func (f follower) follow(t *testing.T, a restResponse) (read []restResponse) {
	t.Helper()
	for name, l := range linksOf(t, a) {
		if !strings.HasPrefix(l.Href, f.mount+"/pts/v2/") && !strings.HasPrefix(l.Href, f.mount+"/tss/v2/") {
			t.Errorf("%s: got %s, want it below %q", name, l.Href, f.mount)
		}
		if l.Method != http.MethodGet {
			continue
		}
		for _, path := range slices.Compact([]string{l.Href, f.mount + l.Href}) { // from the host, and from the base URL
			got, err := f.client.do(t.Context(), l.Method, path, "")
			if err != nil || got.HTTP != http.StatusOK {
				t.Errorf("%s %s: got %d %s, %v", name, path, got.HTTP, got.Body, err)
				continue
			}
			read = append(read, got)
		}
	}
	return read
}
