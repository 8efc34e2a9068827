package on_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// hops are the programs that forward the client address or record it. Envoy gets the secret from
// edge.
var hops = []string{"compat-proxy", "core", "edge", "mle-filter"}

const hopVariable = "CAUSEWAY_HOP_SECRET_FILE"

// TestHopSecret checks that each platform mounts the hop secret into each program. Without it, core
// records the address of the hop in front of it instead of the client's.
func TestHopSecret(t *testing.T) {
	t.Parallel()
	for _, files := range []string{
		"compose.yaml", "compose.yaml several.yaml",
		"compose.yaml several.yaml postgres.yaml",
	} {
		project := mustLoad(t, strings.Fields(files)...)
		for _, name := range hops {
			if path := project.Services[name].Environment[hopVariable]; path == nil || *path != "/run/secrets/hop-secret" {
				t.Errorf("%s: %s has no hop secret", files, name)
			}
		}
	}
	for _, name := range hops {
		unit := string(mustRead(t, "deploy/on/systemd/causeway-"+name+".service"))
		if !strings.Contains(unit, "\nEnvironment="+hopVariable+"=%d/hop-secret\n") {
			t.Errorf("systemd: %s has no hop secret", name)
		}
	}
	for _, folder := range []string{"base", "example", "several", "several-example"} {
		var found []string
		for _, pod := range mustBuild(t, installation(t, folder)).pods {
			for _, c := range all(pod) {
				for _, e := range c.Env {
					if e.Name == hopVariable && e.Value == "/run/secrets/causeway/hop-secret" {
						found = append(found, c.Name)
					}
				}
			}
		}
		if slices.Sort(found); !slices.Equal(found, hops) {
			t.Errorf("kubernetes/%s: %v have the hop secret, want %v", folder, found, hops)
		}
	}
}

// awaitLine waits until a unit has logged a request line with all of the words.
func (m *machine) awaitLine(t *testing.T, unit string, words ...string) {
	t.Helper()
	programtest.WaitFor(t, fmt.Sprintf("%s logs a request line with %v", unit, words), func() bool {
		return m.hasLine(unit, words...)
	})
}

// hasLine reports whether a unit has logged a request line with all of the words.
func (m *machine) hasLine(unit string, words ...string) bool {
	for line := range strings.Lines(m.logs[unit].String()) {
		lacks := func(word string) bool { return !strings.Contains(line, word) }
		if strings.Contains(line, `"msg":"request"`) && !slices.ContainsFunc(words, lacks) {
			return true
		}
	}
	return false
}

// checkTraced checks that the request lines of each program name the client address, the API key
// and the payment. The response to the client must have no header field that only our programs
// exchange.
func (m *machine) checkTraced(t *testing.T, key string) {
	t.Helper()
	_, shown := m.call(t, http.MethodGet, "https://api.example.com/v1/api_keys/current", key, "")
	_, list := m.call(t, http.MethodGet, "https://api.example.com/v1/transactions?limit=3", key, "")
	named := regexp.MustCompile(`"id":"((?:key|txn)_[0-9a-z]{13})"`)
	from := []string{`"client_address":"` + m.from + `"`, `"api_key":"` + named.FindStringSubmatch(shown)[1] + `"`}
	payments := named.FindAllStringSubmatch(list, -1)
	if len(payments) != 3 {
		t.Fatalf("got %d payments, want 3: %s", len(payments), list)
	}
	var lines [][]string
	for _, p := range payments { // for v1 mle-filter gets it from Envoy, otherwise from compat-proxy
		words := append(slices.Clone(from), `"object":"`+p[1]+`"`)
		m.awaitLine(t, "core", append(words, `"route":"POST /v1/transactions"`)...)
		m.awaitLine(t, "mle-filter", append(words, `"route":"POST /v1/transactions"`)...)
		lines = append(lines, words)
	}
	for _, route := range []string{"POST /compat/provider-a/xml", "POST /xml/v1/request.api"} {
		programtest.WaitFor(t, "compat-proxy logs a request line of "+route+" that names its payment", func() bool {
			return slices.ContainsFunc(lines, func(words []string) bool {
				return m.hasLine("compat-proxy", append(words, `"route":"`+route+`"`)...)
			})
		})
	}
	m.call(t, http.MethodGet, "https://api.example.com/v1/transactions/"+payments[0][1], key, "")
	m.awaitLine(t, "mle-filter",
		append(from, `"route":"GET /v1/transactions/{id}"`, `"addressed":"`+payments[0][1]+`"`)...)
	m.call(t, http.MethodGet, "https://api.example.com/v1/mle/keys/current", key, "")
	m.awaitLine(t, "mle-filter", append(from, `"route":"GET /v1/mle/keys/current"`)...)
}
