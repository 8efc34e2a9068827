package account

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/operator"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/secret"
)

// Connector is the connection to an acquirer with the credentials of one account.
type Connector interface {
	acquirer.Acquirer
	acquirer.Reporter
	// Check proves the credentials and the settings at the acquirer. It moves no money.
	Check(ctx context.Context) error
}

// Kind is a kind of acquirers.
type Kind struct {
	// Open opens a connector, and sends nothing. Its error is an operator.FieldError if a setting is
	// missing, unknown or not valid.
	Open func(Settings) (Connector, error)
	// CapturesOnce: the acquirer makes one capture of an authorization, and releases the rest with it.
	CapturesOnce bool
}

// Kinds are the kinds of acquirers by name.
type Kinds map[string]Kind

// Names returns the names of the kinds in order.
func (k Kinds) Names() []string { return slices.Sorted(maps.Keys(k)) }

// Settings are the settings of one account, as an operator gave them.
type Settings struct {
	BaseURL     string                   // of the acquirer's API, without a slash at the end
	Profile     map[string]string        // the kind's settings without secrets, by name
	Credentials map[string]secret.String // by name
	Clock       clock.Clock
	Missing     acquirer.Missing
}

// Reader returns a reader of the kind's settings.
func (s Settings) Reader() *Reader { return &Reader{settings: s, known: map[string]bool{}} }

// Reader reads the settings of a kind by name. It collects the first mistake.
type Reader struct {
	settings Settings
	known    map[string]bool // the fields that were read
	err      error
}

// Text returns a required setting.
func (r *Reader) Text(name string) string {
	text := r.Optional(name, "")
	if text == "" {
		r.refuse("settings."+name, "a text")
	}
	return text
}

// Optional returns a setting, or a default value if it is not given.
func (r *Reader) Optional(name, byDefault string) string {
	r.known["settings."+name] = true
	if text, ok := r.settings.Profile[name]; ok {
		return text
	}
	return byDefault
}

// Choice returns a setting with one of several values. The first value is the default.
func (r *Reader) Choice(name string, values ...string) string {
	text := r.Optional(name, values[0])
	if !slices.Contains(values, text) {
		r.refuse("settings."+name, "%s", strings.Join(values, " or "))
	}
	return text
}

// Duration returns a setting such as 24h, or a default value if it is not given.
func (r *Reader) Duration(name string, byDefault time.Duration) time.Duration {
	text := r.Optional(name, byDefault.String())
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		r.refuse("settings."+name, "a duration such as 24h")
	}
	return d
}

// Secret returns a required credential.
func (r *Reader) Secret(name string) secret.String {
	s := r.OptionalSecret(name)
	if s.IsZero() {
		r.refuse("credentials."+name, "a text")
	}
	return s
}

// OptionalSecret returns a credential, or zero if it is not given.
func (r *Reader) OptionalSecret(name string) secret.String {
	r.known["credentials."+name] = true
	return r.settings.Credentials[name]
}

// Err returns the first mistake. A setting that was not read before is unknown.
func (r *Reader) Err() error {
	for name := range r.settings.Profile {
		if !r.known["settings."+name] {
			r.unknown("settings")
		}
	}
	for name := range r.settings.Credentials {
		if !r.known["credentials."+name] {
			r.unknown("credentials")
		}
	}
	return r.err
}

// unknown refuses an unknown name of a group. The name may be a secret. If a name of the group is
// missing, the unknown one can be a wrong spelling of it.
func (r *Reader) unknown(group string) {
	if first, ok := errors.AsType[*operator.FieldError](r.err); ok && strings.HasPrefix(first.Field, group+".") {
		text := first.Text + "; another name is unknown: want " + r.names(group+".")
		r.err = &operator.FieldError{Field: first.Field, Text: text}
		return
	}
	r.refuse(group, "only %s", r.names(group+"."))
}

// names lists the fields of a group that were read.
func (r *Reader) names(group string) string {
	var out []string
	for field := range r.known {
		if name, ok := strings.CutPrefix(field, group); ok {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

func (r *Reader) refuse(field, want string, args ...any) {
	if r.err == nil {
		r.err = fieldError(field, want, args...)
	}
}

func fieldError(field, want string, args ...any) error {
	return &operator.FieldError{Field: field, Text: field + ": want " + fmt.Sprintf(want, args...)}
}

// Sandbox reports whether a base URL is a provider's sandbox, which moves no money.
func Sandbox(baseURL string) bool {
	u, err := url.Parse(baseURL)
	return err == nil && strings.HasPrefix(strings.ToLower(u.Hostname()), "apitest.")
}

// profile is the stored form of the settings without secrets.
type profile struct {
	BaseURL  string            `json:"base_url"`
	Settings map[string]string `json:"settings,omitempty"`
}

// Profile returns the base URL and the settings of a stored profile.
func Profile(stored []byte) (baseURL string, settings map[string]string, err error) {
	var p profile
	if err := json.Unmarshal(stored, &p); err != nil {
		return "", nil, fmt.Errorf("account: profile: %w", err)
	}
	return p.BaseURL, p.Settings, nil
}

// encodeProfile returns the stored form of the settings.
func (s Settings) encodeProfile() ([]byte, error) {
	return json.Marshal(profile{s.BaseURL, s.Profile}, json.Deterministic(true))
}

// fixed are the columns of an account that no command changes. They are sealed with the
// credentials, so that a change of the database cannot send these to another host, or for another
// merchant. The vault binds the id and the mode.
type fixed struct {
	Merchant int64  `json:"merchant"`
	Currency string `json:"currency"`
	Method   string `json:"method"`
	Rank     int    `json:"rank"`
	Kind     string `json:"kind"`
	Profile  string `json:"profile"` // with the base URL
}

func fixedOf(row *payment.Account) fixed {
	return fixed{row.Merchant, row.Currency, row.Method, row.Rank, row.Kind, string(row.Profile)}
}

// sealed is the text that the vault encrypts for an account.
type sealed struct {
	Account     fixed                    `json:"account"`
	Credentials map[string]secret.String `json:"credentials"`
}

// seal returns the credentials for an account, as the vault seals them.
func (s Settings) seal(row *payment.Account) (secret.String, error) {
	text, err := json.Marshal(sealed{fixedOf(row), s.Credentials},
		json.WithMarshalers(secret.RevealMarshalers()), json.Deterministic(true))
	return secret.New(string(text)), err
}

// unseal returns the settings of a stored account, and errAltered if they were sealed for another
// one.
func unseal(row *payment.Account, text secret.String) (s Settings, err error) {
	var stored sealed
	if err := json.Unmarshal([]byte(text.Reveal()), &stored); err != nil {
		return s, errBroken // the error may quote a credential
	}
	if stored.Account != fixedOf(row) {
		return s, errAltered
	}
	s.BaseURL, s.Profile, err = Profile(row.Profile)
	s.Credentials = stored.Credentials
	return s, err
}
