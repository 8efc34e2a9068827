package rollout_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/deploy/edge/internal/config"
	"github.com/causeway-pay/causeway/deploy/edge/internal/rollout"
	"github.com/causeway-pay/causeway/deploy/edge/internal/serve"
	sharedconfig "github.com/causeway-pay/causeway/shared/config"
	"github.com/causeway-pay/causeway/shared/secret"
)

// reloads has a change of each field of the configuration, and the key that a refusal must name. ""
// means that the change takes effect without a restart.
var reloads = map[string]struct {
	change func(*config.Config)
	names  string
}{
	"Hosts":        {func(c *config.Config) { c.Hosts = []string{"b.example", "a.example"} }, "hosts"},
	"Trust":        {func(c *config.Config) { c.Trust.URL = "https://other.example" }, "trust"},
	"Data":         {func(c *config.Config) { c.Data = "other" }, "data"},
	"Listen":       {func(c *config.Config) { c.Listen.HTTPS = "127.0.0.1:1" }, ""},
	"XDS":          {func(c *config.Config) { c.XDS.Cluster = "other" }, "xds"},
	"HTTP":         {func(c *config.Config) { c.HTTP = "unix:other" }, "http"},
	"Admin":        {func(c *config.Config) { c.Admin = "127.0.0.1:1" }, "admin"},
	"TLS":          {func(c *config.Config) { c.TLS.MinimumVersion = "1.3" }, ""},
	"Certificates": {func(c *config.Config) { c.Certificates.PublishAhead = time.Minute }, "certificates"},
	"Upstreams":    {func(c *config.Config) { c.Upstreams = nil }, ""},
	"ExtProc":      {func(c *config.Config) { c.ExtProc.Address = "unix:other" }, ""},
	"Routes":       {func(c *config.Config) { c.Routes = nil }, ""},
	"Limits":       {func(c *config.Config) { c.Limits.Rate = 1 }, ""},
	"Operator":     {func(c *config.Config) { c.Operator = "http://other" }, "operator"},
	"FilterToken":  {func(c *config.Config) { c.FilterToken = sharedconfig.Literal(secret.New("x")) }, ""},
	"Drain":        {func(c *config.Config) { c.Drain = time.Minute }, "drain"},
	"HopSecret":    {func(c *config.Config) { c.HopSecret = secret.New("x") }, ""},
}

// TestReloadNamesWhatNeedsARestart checks each field of the configuration: its change takes effect,
// or is refused by the name of its key.
func TestReloadNamesWhatNeedsARestart(t *testing.T) {
	t.Parallel()
	server, err := serve.New(t.Context(), serve.Config{Cluster: "c"})
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Decode("c",
		[]byte("hosts: [a.example, b.example]\ncertificates: {folder: c}\nextproc: {address: 'unix:m'}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for field := range reflect.TypeFor[config.Config]().Fields() {
		c, known := reloads[field.Name]
		if !known {
			t.Errorf("%s: the table lacks it", field.Name)
			continue
		}
		wantReload(t, rollout.NewPlane(server, cfg, nil), field.Name, c.change, c.names)
	}
	wantReload(t, rollout.NewPlane(server, cfg, nil), "without suites for ECDSA", func(c *config.Config) {
		c.TLS.CipherSuites = []string{"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"}
	}, "tls.cipher_suites")
}

// wantReload changes the configuration of a plane.
func wantReload(t *testing.T, plane *rollout.Plane, name string, change func(*config.Config), refused string) {
	t.Helper()
	before := plane.Config()
	after := before
	change(&after)
	if reflect.DeepEqual(before, after) {
		t.Errorf("%s: no change", name)
	}
	_, err := plane.Configure(t.Context(), after)
	switch {
	case refused == "" && err != nil:
		t.Errorf("%s: %v", name, err)
	case refused != "" && (err == nil || !strings.HasPrefix(err.Error(), refused)):
		t.Errorf("%s: got %v, want a refusal that names %s", name, err, refused)
	case !reflect.DeepEqual(plane.Config(), after) && refused == "":
		t.Errorf("%s: the change has no effect", name)
	}
}
