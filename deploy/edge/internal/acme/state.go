package acme

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/caddyserver/certmagic"
	rfc "github.com/mholt/acmez/v3/acme"

	"github.com/causeway-pay/causeway/shared/certfile"
)

// The paths below the folder, next to certmagic's own.
const (
	pairKey  = "edge/pair.pem"
	stateKey = "edge/state.json"
)

// state is the state that a restart needs.
type state struct {
	Serial   string           `json:"serial"` // of the pair that the next three fields describe
	Obtained time.Time        `json:"obtained"`
	Jitter   float64          `json:"jitter"`
	Advice   *rfc.RenewalInfo `json:"advice,omitempty"`

	Failures int       `json:"failures"` // consecutive
	Tried    time.Time `json:"tried"`    // the last attempt, recorded before it is made
}

// store stores the pair and the state.
type store struct {
	files *certmagic.FileStorage
}

// kept is the result of load.
type kept struct {
	pair  *certfile.Pair // nil if there is none
	by    string         // the directory of the authority that issued it
	state state
}

func (s store) load(ctx context.Context) (kept, error) {
	var k kept
	text, err := s.read(ctx, stateKey)
	if err != nil {
		return k, err
	}
	if text != nil {
		if err := json.Unmarshal(text, &k.state); err != nil {
			return k, fmt.Errorf("%s: %w", s.path(stateKey), err)
		}
	}
	both, err := s.read(ctx, pairKey)
	if err != nil || both == nil {
		return k, err
	}
	first, _, _ := strings.Cut(string(both), "\n")
	k.by = strings.TrimPrefix(first, byPrefix)
	k.pair, err = certfile.Parse(s.from(), both, both)
	return k, err
}

// from returns the name of the pair in reasons.
func (s store) from() certfile.Files {
	return certfile.Files{Chain: s.path(pairKey), Key: s.path(pairKey)}
}

func (s store) path(key string) string { return filepath.Join(s.files.Path, filepath.FromSlash(key)) }

// read returns nil if the key does not exist.
func (s store) read(ctx context.Context, key string) ([]byte, error) {
	text, err := s.files.Load(ctx, key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("acme: %w", err)
	}
	return text, nil
}

// byPrefix begins the first line of the pair's file, before its PEM. The issuer is in the same file
// as the pair, because the process may die before it writes a second one.
const byPrefix = "Issued by "

func (s store) savePair(ctx context.Context, p *certfile.Pair, by string) error {
	text := byPrefix + by + "\n" + p.Key.Reveal() + string(p.Chain)
	ctx = context.WithoutCancel(ctx) // the certificate was issued: store it even if ctx ends
	if err := s.files.Store(ctx, pairKey, []byte(text)); err != nil {
		return fmt.Errorf("acme: keep the certificate: %w", err)
	}
	return nil
}

func (s store) saveState(ctx context.Context, of state) error {
	text, err := json.Marshal(of)
	if err == nil {
		err = s.files.Store(context.WithoutCancel(ctx), stateKey, text)
	}
	if err != nil {
		return fmt.Errorf("acme: keep the state: %w", err)
	}
	return nil
}
