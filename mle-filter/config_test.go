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

// TestShippedConfig: the file that people start from loads, and what it calls a default is one.
func TestShippedConfig(t *testing.T) {
	t.Parallel()
	var got settings
	if err := config.Load("../configs/mle-filter.yaml", &got); err != nil {
		t.Fatal(err)
	}
	table, err := policy.New(got.Policy)
	if err != nil {
		t.Fatal(err)
	}
	if rule := table.Rule("GET", "/v1/health", ""); rule.Request != policy.Off || rule.Response != policy.Off {
		t.Errorf("health: got %v, want it off", rule)
	}
	shipped, err := got.Complete()
	if err != nil {
		t.Fatal(err)
	}
	standard, err := engine.Settings{}.Complete()
	if err != nil {
		t.Fatal(err)
	}
	if shipped != standard {
		t.Errorf("got %+v, want the defaults %+v", shipped, standard)
	}
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
