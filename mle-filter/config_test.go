package mlefilter_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	mlefilter "github.com/causeway-pay/causeway/mle-filter"
	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/policy"
	"github.com/causeway-pay/causeway/shared/config"
	"github.com/causeway-pay/causeway/shared/secret"
)

// settings are the settings of the configuration file that a Filter has.
type settings struct {
	engine.Settings `yaml:",inline"`
	Policy          policy.Config `yaml:"policy"`
}

func TestConfigRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"policy: {routes: [{path: /v1, ml: off}]}", "policy: [", "max_bodies: 1",
		"policy: {routes: [{path: /v1, mle: false}]}",
	} {
		var got settings
		err := config.Decode("mle-filter.yaml", []byte(text), &got)
		if err == nil {
			_, err = policy.New(got.Policy)
		}
		if err == nil {
			t.Errorf("%s: got a table, want an error", text)
		}
	}
}

// TestPostgresNotLinked checks that without the driver, a URL is not used as a file name.
func TestPostgresNotLinked(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"postgres://nowhere/x", "postgresql://nowhere/x"} {
		_, err := mlefilter.New(t.Context(), mlefilter.Config{
			Core: http.NotFoundHandler(), Keys: url, KEK: secret.New(base64.StdEncoding.EncodeToString(make([]byte, 32))),
		})
		if err == nil || !strings.Contains(err.Error(), "postgres://") {
			t.Errorf("got %v, want an error that names the scheme", err)
		}
	}
}
