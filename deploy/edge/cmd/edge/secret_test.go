package main

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/envoytest"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// TestSecretsDoNotPrint checks that no page for operators and no line of the log has a secret. The
// secrets are the hop secret, the filter token and the private key of the certificate.
func TestSecretsDoNotPrint(t *testing.T) {
	t.Parallel()
	b := newTestbed(t)
	hop, token := strings.Repeat("planted-hop", 4), strings.Repeat("planted-token", 4)
	b.env = []string{"CAUSEWAY_HOP_SECRET=" + hop, "CAUSEWAY_FILTER_TOKEN=" + token}
	admin := "http://" + programtest.Host(t) + ":9084"
	b.configure(t, "admin: "+strings.TrimPrefix(admin, "http://")+"\noperator: http://127.0.0.1:1")
	b.process(t)
	programtest.WaitFor(t, "the edge has a configuration for Envoys", func() bool {
		r, err := http.Get(admin + "/config") //nolint:noctx // the condition ends the wait
		if err != nil {
			return false
		}
		_ = r.Body.Close()
		return r.StatusCode == http.StatusOK
	})
	key, err := os.ReadFile(b.path("certs/edge.key"))
	if err != nil {
		t.Fatal(err)
	}
	secrets := append(strings.Split(strings.TrimSpace(string(key)), "\n")[1:3], hop, token)
	log, err := os.ReadFile(b.path("log"))
	if err != nil {
		t.Fatal(err)
	}
	for where, text := range map[string]string{
		"/config": fetched(t, admin+"/config"), "/ready": fetched(t, admin+"/ready"),
		"/metrics": fetched(t, admin+"/metrics"), "the log": string(log),
	} {
		for _, secret := range secrets {
			if strings.Contains(text, secret) {
				t.Errorf("%s has the secret %q: %s", where, secret, text)
			}
		}
	}
}

// TestAccessLogMethods checks that Envoy's access log has the method of a request only if it is a
// method. A client could send a card number there.
func TestAccessLogMethods(t *testing.T) {
	t.Parallel()
	b := newTestbed(t)
	b.run(t)
	e := envoytest.Start(t, b.bootstrap(t, "envoy-1"), "--file-flush-interval-msec", "100")
	e.Listeners(t)
	const number = "4111111111111111"
	for _, method := range []string{number, http.MethodPatch} {
		b.send(t, b.http2(), method, "https://"+host+"/compat/x", "")
	}
	e.Wait(t, "does not log the last request", func() bool { return strings.Contains(e.Log(), `"method":"PATCH"`) })
	if log := e.Log(); strings.Contains(log, number) || !strings.Contains(log, `"method":"OTHER"`) {
		t.Errorf("the access log: got %s, want OTHER for another method", log)
	}
}
