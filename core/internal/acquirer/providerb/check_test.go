package providerb_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/acquirer/acquirertest"
	"github.com/causeway-pay/causeway/core/internal/acquirer/providerb"
	"github.com/causeway-pay/causeway/core/internal/acquirer/upstream"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/secret"
)

const (
	noResource = `404 {"message":"The requested resource does not exist"}`
	noLogin    = `401 {"response":{"rmsg":"Authentication Failed"}}`
)

// TestCheck: the credentials are good if the host is the provider's, accepts their signature and
// refuses another one.
func TestCheck(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		right, wrong string // the responses to the right and to a wrong signature
		want         error
		requests     int
	}{
		"provider":                            {noResource, noLogin, nil, 2},
		"wrong credentials":                   {noLogin, noLogin, acquirer.ErrLogin, 1},
		"another host's page":                 {"404 404 page not found", "404 404 page not found", acquirer.ErrUnknown, 1},
		"another host's page, behind a login": {"404 404 page not found", noLogin, acquirer.ErrUnknown, 1},
		"another host's JSON":                 {`404 {"error":"not found"}`, noLogin, acquirer.ErrUnknown, 1},
		"no signatures checked":               {noResource, noResource, acquirer.ErrUnknown, 2},
		"a host that breaks":                  {noResource, "500 {}", acquirer.ErrUnknown, 2},
		"redirect":                            {"301 moved", noLogin, acquirer.ErrUnknown, 1},
		"no error":                            {`200 {"id":"1"}`, noLogin, acquirer.ErrUnknown, 1},
	} {
		for _, auth := range []string{providerb.AuthSignature, providerb.AuthJWT} {
			host := newProving(t, c.right, c.wrong)
			err := host.connect(t, auth).Check(t.Context())
			if !errors.Is(err, c.want) || host.requests != c.requests {
				t.Errorf("%s, %s: got %v after %d requests, want %v after %d", name, auth, err, host.requests, c.want, c.requests)
			}
		}
	}
}

// proving is a host that accepts the signature of the first request.
type proving struct {
	url      string
	requests int
}

func newProving(t *testing.T, right, wrong string) *proving {
	t.Helper()
	p := &proving{}
	first := ""
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.requests++
		proof := r.Header.Get("Signature") + r.Header.Get("Authorization")
		response := wrong
		if p.requests == 1 {
			first, response = proof, right
		}
		if proof == "" || p.requests > 1 && proof == first {
			t.Errorf("request %d has the proof %q, want another one than %q", p.requests, proof, first)
		}
		status, body, _ := strings.Cut(response, " ")
		n, _ := strconv.Atoi(status)
		w.WriteHeader(n)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(host.Close)
	p.url = host.URL
	return p
}

func (p *proving) connect(t *testing.T, auth string) *providerb.Connector {
	t.Helper()
	client, err := upstream.New(upstream.Config{BaseURL: p.url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	c, err := providerb.New(providerb.Config{
		MerchantID: "m", KeyID: "k", SharedSecret: secret.New("c2VjcmV0"), Auth: auth, Upstream: client,
		Missing: acquirertest.NewMissing(clock.System()),
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
