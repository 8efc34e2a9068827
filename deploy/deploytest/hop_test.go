package deploytest_test

import (
	"slices"
	"strings"
	"testing"
)

// hops are the programs that forward the client address or record it. Envoy gets the secret from edge.
var hops = []string{"compat-proxy", "core", "edge", "mle-filter"}

const hopVariable = "CAUSEWAY_HOP_SECRET_FILE"

// TestHopSecret: each shape gives the hop secret to each program, so that core records the address of
// the client and not that of the hop in front of it.
func TestHopSecret(t *testing.T) {
	t.Parallel()
	for _, files := range []string{"compose.yaml", "compose.yaml several.yaml", "compose.yaml several.yaml postgres.yaml"} {
		project := mustLoad(t, strings.Fields(files)...)
		for _, name := range hops {
			if path := project.Services[name].Environment[hopVariable]; path == nil || *path != "/run/secrets/hop-secret" {
				t.Errorf("%s: %s has no hop secret", files, name)
			}
		}
	}
	for _, name := range hops {
		unit := string(mustRead(t, "deploy/systemd/causeway-"+name+".service"))
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
