package mlefilter_test

import (
	"testing"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/policy"
	"github.com/causeway-pay/causeway/shared/config"
)

// settings are what the configuration file holds.
type settings struct {
	engine.Settings `yaml:",inline"`
	Policy          policy.Config `yaml:"policy"`
}

func TestConfigRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"policy: {routes: [{path: /v1, ml: off}]}", "policy: [", "max_bodies: 1", "policy: {routes: [{path: /v1, mle: false}]}"} {
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
