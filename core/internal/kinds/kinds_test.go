package kinds_test

import (
	"errors"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/account"
	"github.com/causeway-pay/causeway/core/internal/acquirer/acquirertest"
	"github.com/causeway-pay/causeway/core/internal/kinds"
	"github.com/causeway-pay/causeway/core/internal/operator"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/secret"
)

// whole has the settings that each kind needs.
func whole() map[string]account.Settings {
	text := func(s string) secret.String { return secret.New(s) }
	return map[string]account.Settings{
		"provider-a": {
			Profile:     map[string]string{"name": "login"},
			Credentials: map[string]secret.String{"transaction_key": text("key")},
		},
		"provider-b": {
			Profile:     map[string]string{"merchant_id": "shop"},
			Credentials: map[string]secret.String{"key_id": text("id"), "shared_secret": text("c2VjcmV0")},
		},
	}
}

// TestKinds opens a connector of each kind. A missing setting or credential is named.
func TestKinds(t *testing.T) {
	t.Parallel()
	all := kinds.All()
	if len(all) != len(whole()) {
		t.Errorf("got %d kinds, want %d", len(all), len(whole()))
	}
	if !all["provider-a"].CapturesOnce || all["provider-b"].CapturesOnce {
		t.Error("want one capture of an authorization at provider-a only")
	}
	for name := range all {
		open := func(change func(account.Settings)) error {
			s := whole()[name]
			s.BaseURL, s.Clock = "http://127.0.0.1:1", clock.System()
			s.Missing = acquirertest.NewMissing(s.Clock)
			change(s)
			_, err := all[name].Open(s)
			return err
		}
		if err := open(func(account.Settings) {}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var missing *operator.FieldError
		for setting := range whole()[name].Profile {
			err := open(func(s account.Settings) { delete(s.Profile, setting) })
			if !errors.As(err, &missing) || missing.Field != "settings."+setting {
				t.Errorf("%s without %s: got %v", name, setting, err)
			}
		}
		for credential := range whole()[name].Credentials {
			err := open(func(s account.Settings) { delete(s.Credentials, credential) })
			if !errors.As(err, &missing) || missing.Field != "credentials."+credential {
				t.Errorf("%s without %s: got %v", name, credential, err)
			}
		}
	}
}
