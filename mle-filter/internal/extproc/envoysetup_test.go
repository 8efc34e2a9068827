package extproc_test

import (
	"bytes"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"text/template"

	"github.com/causeway-pay/causeway/shared/envoytest"
)

const bootstrapFile = "testdata/envoy/bootstrap.yaml"

// processors are what an Envoy has listeners for.
type processors struct {
	Processors []listener
	Levels     []string
	Core       int
	Nowhere    string
}

type listener struct {
	Name, Socket, Timeout string
	Normalize             bool
}

// realEnvoy is a running Envoy.
type realEnvoy struct {
	at   map[string]string // the address of each listener, by its name
	core *stage
}

// startEnvoy validates the bootstrap and starts Envoy by it.
func startEnvoy(t *testing.T, all ...listener) *realEnvoy {
	t.Helper()
	dir := folder(t)
	e := &realEnvoy{core: newStage()}
	back := httptest.NewServer(e.core)
	t.Cleanup(back.Close)
	values := processors{
		Processors: all, Levels: []string{"off", "optional", "required"}, Core: back.Listener.Addr().(*net.TCPAddr).Port, Nowhere: filepath.Join(dir, "nowhere"),
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
	e.at = envoytest.Start(t, bootstrap).Listeners(t)
	return e
}
