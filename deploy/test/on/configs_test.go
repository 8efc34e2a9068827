package on_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the configurations under deploy/ from configs/")

// change is a line of a file in configs/ that a platform replaces. The test fails unless the line
// exists exactly once, so that a change of the original is noticed here.
type change struct{ from, to string }

// paths are the changes for the folders of our programs on every platform.
var paths = map[string][]change{
	"compat-proxy.yaml": {
		// The proxy calls mle-filter: core rejects requests without the filter secret, which the proxy
		// does not have.
		{"v1: http://127.0.0.1:8080", "v1: http://127.0.0.1:8082"},
		{"credentials: configs/compat-credentials.yaml", "credentials: /etc/causeway/compat-credentials.yaml"},
	},
	"mle-filter.yaml": {
		{`extproc: ""`, "extproc: /run/causeway/mle/extproc.sock"},
		{`operator: ""`, "operator: http://127.0.0.1:9080"},
		{"keys: data/mle.db", "keys: /var/lib/causeway/mle/mle.db"},
	},
	"edge.yaml": {
		{"data: data/edge", "data: /var/lib/causeway/edge"},
		{"  listen: unix:data/edge/xds.sock", "  listen: unix:/run/causeway/edge/xds.sock"},
		{"http: unix:data/edge/http.sock", "http: unix:/run/causeway/edge/http.sock"},
		{"  folder: data/edge/certificates", "  folder: /etc/causeway/certificates"},
		{"  #   listen: unix:data/edge/acme.sock    # where", "  #   listen: unix:/run/causeway/edge/acme.sock    # where"},
		{
			"extproc: {address: unix:data/mle/extproc.sock, message_timeout: 6s}",
			"extproc: {address: unix:/run/causeway/mle/extproc.sock, message_timeout: 6s}",
		},
		{`operator: ""`, "operator: http://127.0.0.1:9080"},
	},
	"compat-credentials.yaml": nil,
}

// mounted is a separate folder, because a mount point cannot be created inside a read-only mount.
var mounted = change{"  folder: /etc/causeway/certificates", "  folder: /run/causeway/certificates"}

// machines are the changes of each platform: the programs share one loopback, or each has its own
// address.
var machines = map[string]map[string][]change{
	"systemd/config":         {},
	"kubernetes/base/config": {"edge.yaml": {{"admin: 127.0.0.1:9084", "admin: 0.0.0.0:9084"}, mounted}},
	"compose/config": {
		"compat-proxy.yaml": {
			{"v1: http://127.0.0.1:8082", "v1: http://mle-filter:8082"},
			{"listen: 127.0.0.1:8081", "listen: 0.0.0.0:8081"},
			{"admin: 127.0.0.1:9081", "admin: 0.0.0.0:9081"},
		},
		"mle-filter.yaml": {
			{"listen: 127.0.0.1:8082", "listen: 0.0.0.0:8082"},
			{"admin: 127.0.0.1:9082", "admin: 0.0.0.0:9082"},
			{"v1: http://127.0.0.1:8080", "v1: http://core:8080"},
			{"operator: http://127.0.0.1:9080", "operator: http://core:9080"},
		},
		"edge.yaml": {
			{"  core: {address: 127.0.0.1:8080, health: /v1/health}", "  core: {address: core:8080, health: /v1/health}"},
			{"  compat: {address: 127.0.0.1:8081}", "  compat: {address: compat-proxy:8081}"},
			{"  mle: {address: 127.0.0.1:8082}", "  mle: {address: mle-filter:8082}"},
			{"operator: http://127.0.0.1:9080", "operator: http://core:9080"},
			{"admin: 127.0.0.1:9084", "admin: 0.0.0.0:9084"},
			mounted,
		},
	},
	"kubernetes/compat-sidecar/config": {
		"compat-proxy.yaml": {{"v1: http://127.0.0.1:8082", "v1: https://api.example.com"}},
	},
}

// TestConfigs compares the settings in deploy/on with configs/, which explains every key.
func TestConfigs(t *testing.T) {
	t.Parallel()
	for machine, more := range machines {
		for name, changes := range paths {
			if machine == "kubernetes/compat-sidecar/config" && !strings.HasPrefix(name, "compat-") {
				continue // the other programs run on other machines
			}
			made := string(mustRead(t, "configs/"+name))
			for _, c := range append(changes[:len(changes):len(changes)], more[name]...) {
				made = substitute(t, machine+"/"+name, made, c)
			}
			made = "# Made of configs/" + name + " for " + machine + " by go test ./deploy/test/on -run TestConfigs -update\n" +
				made
			same(t, "deploy/on/"+machine+"/"+name, []byte(made))
		}
	}
}

// administration is the socket of Envoy's administration on each platform. A port would show its
// secrets to every user of the machine.
const administration = "unix:/run/causeway/envoy/admin.sock"

// TestEnvoyConfigs compares the bootstrap files with the output of the edge program for these
// settings.
func TestEnvoyConfigs(t *testing.T) {
	t.Parallel()
	for machine, words := range map[string][]string{
		"systemd/config":         {"bootstrap", "--stats", "127.0.0.1:9902"},
		"kubernetes/base/config": {"bootstrap", "--stats", "0.0.0.0:9902"},
		"compose/config":         {"bootstrap", "--stats", "0.0.0.0:9902"},
		"kubernetes/compat-sidecar/config": {
			"static", "--stats", "0.0.0.0:9902", "--certificate", "/run/causeway/certificates/tls.crt", "--key",
			"/run/causeway/certificates/tls.key",
		},
	} {
		words = append(words, "--admin", administration, "--config", "deploy/on/"+machine+"/edge.yaml")
		same(t, "deploy/on/"+machine+"/envoy.yaml", []byte(mustRun(t, root, filepath.Join(bin, "edge"), words...)))
	}
}

// TestNoSteering checks that no Envoy configuration in this repository accepts control header
// fields of a client, above all the ones for retries. An internal_address_config without a range
// would: Envoy then trusts private networks, and behind a balancer every client has a private
// address.
func TestNoSteering(t *testing.T) {
	t.Parallel()
	files := []string{
		"configs/envoy-static.yaml", "configs/envoy-bootstrap.yaml",
		"mle-filter/internal/extproc/testdata/envoy/bootstrap.yaml",
	}
	for machine := range machines {
		files = append(files, "deploy/on/"+machine+"/envoy.yaml")
	}
	spaces := strings.NewReplacer(" ", "", "\n", "", "-", "", "{", "", "}", "", "[", "", "]", "")
	for _, file := range files {
		text := spaces.Replace(string(mustRead(t, file)))
		managers := 0
		for manager := range strings.SplitSeq(text, "http_connection_manager.v3.HttpConnectionManager") {
			if manager = strings.TrimSpace(manager); strings.HasPrefix(text, manager) {
				continue // text before the first one
			}
			managers++
			for _, want := range []string{
				"use_remote_address:true", "internal_address_config:cidr_ranges:address_prefix",
				"early_header_mutation_extensions:", "prefix:xenvoy",
			} {
				if !strings.Contains(manager, want) {
					t.Errorf("%s: a connection manager without %s", file, want)
				}
			}
		}
		if managers == 0 && file != "configs/envoy-bootstrap.yaml" { // its listeners come by xDS
			t.Errorf("%s: found no connection manager", file)
		}
	}
}

// substitute replaces a line, which must exist exactly once.
func substitute(t *testing.T, name, text string, c change) string {
	t.Helper()
	lines, found := strings.Split(text, "\n"), 0
	for i, line := range lines {
		if rest, ok := strings.CutPrefix(line, c.from); ok && (rest == "" || strings.HasPrefix(rest, " ")) {
			lines[i] = c.to + rest
			found++
		}
	}
	if found != 1 {
		t.Fatalf("%s: found %q %d times, want it once", name, c.from, found)
	}
	return strings.Join(lines, "\n")
}

// same compares a file of the repository with the wanted content, or writes it with -update.
func same(t *testing.T, path string, want []byte) {
	t.Helper()
	if *update {
		file := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got := mustRead(t, path); !bytes.Equal(got, want) {
		t.Errorf("%s differs from configs/ and the programs: go test ./deploy/test/on -run 'Configs' -update, and read "+
			"the difference", path)
	}
}
