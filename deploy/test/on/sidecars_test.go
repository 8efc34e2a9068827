package on_test

import (
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/certfile/certtest"
	"github.com/causeway-pay/causeway/shared/envoytest"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// TestSidecars checks the sidecars of a merchant's application. They accept its calls over TLS in
// its pod, and forward them as v1 calls to core's machine.
func TestSidecars(t *testing.T) {
	t.Parallel()
	there, pod := newMachine(t), newMachine(t)
	there.startAll(t)
	key := there.must(t, "core keys create --data /var/lib/causeway/core --merchant "+
		there.must(t, "core merchants create Shop --data /var/lib/causeway/core"))

	for _, name := range []string{"compat-proxy.yaml", "envoy.yaml"} {
		text := string(mustRead(t, "deploy/on/kubernetes/compat-sidecar/config/"+name))
		// no name resolves here
		text = strings.Replace(text, "v1: https://api.example.com", "v1: http://"+there.address+":8082", 1)
		write(t, pod.path("/etc/causeway/"+name), []byte(pod.here(text)))
	}
	folder := pod.path("/run/causeway/certificates")
	write(t, filepath.Join(folder, ".made"), nil)
	pod.authority.Issue(t, certtest.Hosts("payments.example.com")).Write(t, folder, "tls")
	pod.start(t, "compat-proxy", "9081") // the unit has the arguments of sidecars.yaml
	pod.envoy = envoytest.Start(t, pod.path("/etc/causeway/envoy.yaml"))
	pod.envoy.Wait(t, "does not listen", func() bool { return programtest.Listening(t.Context(), pod.address+":8443") })
	status, response := pod.call(t, http.MethodPost, "https://payments.example.com:8443/xml/v1/request.api", key,
		legacyPayment)
	if status != http.StatusOK || !strings.Contains(response, "<responseCode>1</responseCode>") {
		t.Errorf("got %d %s", status, response)
	}
	if status, _ := pod.call(t, http.MethodGet,
		"https://payments.example.com:8443/v1/transactions", key, ""); status != http.StatusNotFound {
		t.Errorf("v1 in the pod of an application: got %d, want 404", status)
	}
}

// TestSettingsAreSound checks that edge and Envoy accept all settings in deploy/on.
func TestSettingsAreSound(t *testing.T) {
	t.Parallel()
	for folder := range machines {
		m := newMachine(t)
		write(t, m.path("/run/causeway/certificates/.made"), nil)
		m.authority.Issue(t, certtest.Hosts("api.example.com", "trust.example.com", "payments.example.com")).
			Write(t, m.path("/run/causeway/certificates"), "tls")
		for _, name := range []string{"edge.yaml", "envoy.yaml"} {
			write(t, m.path("/etc/causeway/"+name), []byte(m.here(string(mustRead(t, "deploy/on/"+folder+"/"+name)))))
		}
		m.must(t, "edge check --config /etc/causeway/edge.yaml")
		validate := exec.CommandContext(t.Context(), envoytest.Install(t), "--mode", "validate", "-c",
			m.path("/etc/causeway/envoy.yaml"), "--log-level", "error")
		if out, err := validate.CombinedOutput(); err != nil {
			t.Errorf("%s/envoy.yaml: %v\n%s", folder, err, out)
		}
	}
}
