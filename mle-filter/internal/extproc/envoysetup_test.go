package extproc_test

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"text/template"

	"github.com/causeway-pay/causeway/shared/envoytest"
)

const bootstrapFile = "testdata/envoy/bootstrap.yaml"

// processors are the listeners of one Envoy and their surroundings.
type processors struct {
	Processors []listener
	Levels     []string
	Others     []string // clusters, each with a level of its name
	Core       int
	Nowhere    string
}

type listener struct {
	Name, Socket, Timeout string
	Normalize             bool
	MaxBody               int // 0 for no buffer filter
}

// realEnvoy is a running Envoy.
type realEnvoy struct {
	*envoytest.Envoy
	at   map[string]string // the address of each listener, by its name
	core *stage
}

// startEnvoy validates the bootstrap and starts Envoy by it.
func startEnvoy(t *testing.T, all ...listener) *realEnvoy {
	t.Helper()
	return launchEnvoy(t, envoytest.Start, all...)
}

func launchEnvoy(t *testing.T, start func(testing.TB, string, ...string) *envoytest.Envoy, all ...listener) *realEnvoy {
	t.Helper()
	dir := folder(t)
	e := &realEnvoy{core: newStage()}
	back := httptest.NewUnstartedServer(e.core)
	back.Config.Protocols = &http.Protocols{}
	back.Config.Protocols.SetHTTP1(true)
	back.Config.Protocols.SetUnencryptedHTTP2(true)
	back.Start()
	t.Cleanup(back.Close)
	values := processors{
		Processors: all, Levels: []string{"off", "optional", "required"}, Others: []string{"http2", "nowhere"},
		Core: back.Listener.Addr().(*net.TCPAddr).Port, Nowhere: filepath.Join(dir, "nowhere"),
	}
	var config bytes.Buffer
	if err := template.Must(template.ParseFiles(bootstrapFile)).Execute(&config, values); err != nil {
		t.Fatal(err)
	}
	bootstrap := filepath.Join(dir, "bootstrap.yaml")
	if err := os.WriteFile(bootstrap, config.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	envoytest.Validate(t, bootstrap)
	e.Envoy = start(t, bootstrap)
	e.at = e.Listeners(t)
	return e
}

// responses returns the number of messages that Envoy has received from its processors.
func (e *realEnvoy) responses(t *testing.T) (sum int) {
	t.Helper()
	var stats struct {
		Stats []struct {
			Value int `json:"value"`
		} `json:"stats"`
	}
	if err := json.Unmarshal(
		[]byte(e.Get(t, "/stats?format=json&filter=ext_proc.*stream_msgs_received$")), &stats,
	); err != nil {
		t.Fatal(err)
	}
	for _, s := range stats.Stats {
		sum += s.Value
	}
	return sum
}

// awaitResponses waits until that number is at least n.
func (e *realEnvoy) awaitResponses(t *testing.T, n int) {
	t.Helper()
	e.Wait(t, "has no response", func() bool { return e.responses(t) >= n })
}
