package account_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/account"
	"github.com/causeway-pay/causeway/core/internal/operator"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/secret"
)

// readAll reads the settings of a kind, and returns the first mistake.
func readAll(s account.Settings) (auth string, settle time.Duration, err error) {
	r := s.Reader()
	auth, settle = r.Choice("auth", "signature", "jwt"), r.Duration("settle_unknown_after", 24*time.Hour)
	r.Text("login")
	r.Secret("key")
	r.OptionalSecret("other")
	return auth, settle, r.Err()
}

// TestReader: the error names the setting that is missing, unknown or not valid, and no credential.
func TestReader(t *testing.T) {
	t.Parallel()
	whole := func() account.Settings {
		return account.Settings{Profile: map[string]string{"login": "shop"}, Credentials: keys("k")}
	}
	if auth, settle, err := readAll(whole()); err != nil || auth != "signature" || settle != 24*time.Hour {
		t.Errorf("got %q, %s, %v, want the default values", auth, settle, err)
	}
	set := func(name, text string) func(*account.Settings) {
		return func(s *account.Settings) { s.Profile[name] = text }
	}
	for want, change := range map[string]func(*account.Settings){
		"settings.login: want a text":                                set("login", ""),
		"settings.auth: want signature or jwt":                       set("auth", "none"),
		"settings.settle_unknown_after: want a duration such as 24h": set("settle_unknown_after", "-1h"),
		"settings: want only auth, login, settle_unknown_after":      set("more", "1"),
		"credentials.key: want a text":                               func(s *account.Settings) { s.Credentials = nil },
		"credentials: want only key, other": func(s *account.Settings) {
			s.Credentials["planted"] = secret.New("planted")
		},
		"credentials.key: want a text; another name is unknown: want key, other": func(s *account.Settings) {
			s.Credentials = map[string]secret.String{"planted": secret.New("planted")}
		},
	} {
		s := whole()
		change(&s)
		var invalid *operator.FieldError
		_, _, err := readAll(s)
		if !errors.As(err, &invalid) || err.Error() != want || !strings.HasPrefix(want, invalid.Field+":") {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestRefusedChanges: the error names the field that is not valid, and has no credential.
func TestRefusedChanges(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.host.Accept(firstKey)
	for field, change := range map[string]func(*operator.AccountCreate){
		"merchant":       func(in *operator.AccountCreate) { in.Merchant = "mer_1" },
		"kind":           func(in *operator.AccountCreate) { in.Kind = "other" },
		"currency":       func(in *operator.AccountCreate) { in.Currency = "USD" },
		"method":         func(in *operator.AccountCreate) { in.Method = "cash" },
		"base_url":       func(in *operator.AccountCreate) { in.BaseURL = "http://example.com" },
		"settings.login": func(in *operator.AccountCreate) { in.Settings["login"] = "" },
		"settings":       func(in *operator.AccountCreate) { in.Settings["x"] = "y" },
		"credentials":    func(in *operator.AccountCreate) { in.Credentials = nil },
		"credentials.key": func(in *operator.AccountCreate) {
			in.Credentials = map[string]secret.String{"planted": secret.New("x")}
		},
	} {
		in := b.create()
		change(&in)
		_, _, err := b.accounts.Create(t.Context(), in)
		var invalid *operator.FieldError
		if !errors.As(err, &invalid) || invalid.Field != field || strings.Contains(err.Error(), "planted") {
			t.Errorf("%s: got %v", field, err)
		}
	}
	if n := b.host.Opened(); n != 0 {
		t.Errorf("opened %d connectors", n)
	}
}

// TestLongSetting: the error of a setting that is too long does not have its name, which may be a
// credential.
func TestLongSetting(t *testing.T) {
	t.Parallel()
	b := setup(t)
	in := b.create()
	in.Settings["planted"] = strings.Repeat("x", 513)
	_, _, err := b.accounts.Create(t.Context(), in)
	var invalid *operator.FieldError
	if !errors.As(err, &invalid) || invalid.Field != "settings" || !strings.Contains(invalid.Text, "512 bytes, got 513") ||
		strings.Contains(invalid.Text, "planted") {
		t.Errorf("got %v", err)
	}
}

// TestFailedChecks: credentials that the acquirer does not accept are not stored. The error has no
// credential.
func TestFailedChecks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.host.Accept(firstKey)
	wrong := b.create()
	wrong.Credentials = keys(nextKey)
	var failed *account.CheckError
	_, _, err := b.accounts.Create(t.Context(), wrong)
	const reason = "https://host.example.com: the host does not accept the key [redacted]"
	if !errors.As(err, &failed) || failed.Reason != reason {
		t.Errorf("got %v, want a failed check without the key", err)
	}
	wrong.Unchecked = true
	_, credentials, err := b.accounts.Create(t.Context(), wrong)
	if err != nil || !strings.Contains(credentials.Reveal(), `{"key":"`+nextKey+`"}`) {
		t.Errorf("unchecked: got %v", err)
	}
	n := b.add(t, func(*operator.AccountCreate) {})
	next := operator.AccountRotate{Credentials: keys(nextKey)}
	if _, err := b.accounts.Rotate(t.Context(), n, next); !errors.As(err, &failed) {
		t.Errorf("rotate: got %v, want a failed check", err)
	}
	if _, err := b.accounts.Rotate(t.Context(), 1, next); !errors.Is(err, payment.ErrNotFound) {
		t.Errorf("rotate: got %v, want %v", err, payment.ErrNotFound)
	}
	if err := b.accounts.Check(t.Context(), n); err != nil {
		t.Error(err)
	}
	b.host.Accept(nextKey)
	if err := b.accounts.Check(t.Context(), n); !errors.As(err, &failed) || strings.Contains(err.Error(), firstKey) {
		t.Errorf("check: got %v", err)
	}
}
