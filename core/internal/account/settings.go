package account

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/operator"
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

// checkBaseURL returns the base URL of an acquirer's API without a slash at the end. Card numbers
// are sent to it, so plain HTTP is for this machine only.
func checkBaseURL(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return "", fieldError("base_url", "an https URL")
	}
	if u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.Opaque != "" {
		return "", fieldError("base_url", "a URL without user, query and fragment")
	}
	if u.Scheme == "http" && !isLoopback(u.Hostname()) {
		return "", fieldError("base_url", "an https URL; http is for a loopback address only")
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return "", fieldError("base_url", "a valid port")
		}
	}
	return strings.TrimRight(u.String(), "/"), nil
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsLoopback()
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

// encodeCredentials returns the credentials as the vault seals them.
func (s Settings) encodeCredentials() (secret.String, error) {
	text, err := json.Marshal(s.Credentials, json.WithMarshalers(secret.RevealMarshalers()), json.Deterministic(true))
	return secret.New(string(text)), err
}

// settingsOf returns the settings of a stored account.
func settingsOf(stored []byte, credentials secret.String) (s Settings, err error) {
	if s.BaseURL, s.Profile, err = Profile(stored); err != nil {
		return s, err
	}
	if err := json.Unmarshal([]byte(credentials.Reveal()), &s.Credentials); err != nil {
		return s, errBroken // the error may quote a credential
	}
	return s, nil
}
