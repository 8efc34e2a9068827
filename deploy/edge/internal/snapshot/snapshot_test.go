package snapshot_test

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	resourcev3 "github.com/envoyproxy/go-control-plane/pkg/resource/v3"

	"github.com/causeway-pay/causeway/deploy/edge/internal/build"
	"github.com/causeway-pay/causeway/deploy/edge/internal/config"
	"github.com/causeway-pay/causeway/deploy/edge/internal/snapshot"
	"github.com/causeway-pay/causeway/shared/certfile"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/secret"
)

const (
	plantedHop = "planted-hop-secret-of-at-least-43-characters"
	plantedKey = "-----BEGIN PRIVATE KEY-----\nplanted-line-of-a-private-key\n-----END PRIVATE KEY-----\n"
)

func made(t *testing.T, chain, more string) *snapshot.Snapshot {
	t.Helper()
	c, err := config.Decode("c",
		[]byte("hosts: [a.example]\ncertificates: {folder: c}\nextproc: {address: 'unix:m'}\n"+more))
	if err != nil {
		t.Fatal(err)
	}
	c.HopSecret = secret.New(plantedHop)
	pair := &certfile.Pair{Chain: []byte(chain), Key: secret.New(plantedKey)}
	r, err := build.Build(build.Input{Config: c, Certificates: []build.Certificate{build.FromPair(pair)}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := snapshot.New(r)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestVersions checks that equal content has equal versions. A new certificate changes only
// secrets, and a new route only routes. Only the first legacy route also changes the responses of
// the listener.
func TestVersions(t *testing.T) {
	t.Parallel()
	first := made(t, "one", "")
	if got := first.Changes(nil); len(got) != 4 {
		t.Errorf("got %v, want all", got)
	}
	if got := made(t, "one", "").Changes(first); len(got) != 0 {
		t.Errorf("got %v, want no change", got)
	}
	if got := made(t, "two", "").Changes(first); !slices.Equal(got, []string{resourcev3.SecretType}) {
		t.Errorf("got %v, want secrets", got)
	}
	if got := made(t, "one", "routes: [{path: /v1/**, upstream: core}, {path: /compat/**, upstream: compat}]\n").
		Changes(first); !slices.Equal(got, []string{resourcev3.RouteType}) {
		t.Errorf("got %v, want routes", got)
	}
	if got := first.Resources(resourcev3.SecretType); len(got) != 1 || got["edge-cert"] == "" {
		t.Errorf("got %v", got)
	}
}

// TestDump checks that the dump has all resources, without private keys and the hop secret.
func TestDump(t *testing.T) {
	t.Parallel()
	dump, err := made(t, "chain", "").Dump()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(dump)
	if err != nil {
		t.Fatal(err)
	}
	for _, hidden := range []string{
		"planted", base64.StdEncoding.EncodeToString([]byte(plantedKey)),
		base64.StdEncoding.EncodeToString([]byte(plantedHop)),
	} {
		if strings.Contains(string(text), hidden) {
			t.Errorf("the dump shows %q: %s", hidden, text)
		}
	}
	for _, shown := range []string{"[redacted]", "edge-cert", "mle-extproc", "x-mle-policy", httpx.HopField} {
		if !strings.Contains(string(text), shown) {
			t.Errorf("the dump lacks %s", shown)
		}
	}
}

// TestScrub checks that a text of an Envoy, which may quote its resources, loses their secrets.
func TestScrub(t *testing.T) {
	t.Parallel()
	s := made(t, "chain", "")
	quoted := strconv.Quote(plantedKey)
	got := s.Scrub("edge_https: \"" + plantedHop + "\" is refused, and so is " + plantedKey + " or " + quoted)
	if strings.Contains(got, "planted") || !strings.HasPrefix(got, `edge_https: "[redacted]" is refused`) {
		t.Errorf("got %q", got)
	}
	if got := s.Scrub("edge_https: cannot bind"); got != "edge_https: cannot bind" {
		t.Errorf("got %q", got)
	}
}
