package acme

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/caddyserver/certmagic"
	rfc "github.com/mholt/acmez/v3/acme"

	"github.com/causeway-pay/causeway/shared/certfile"
)

// Where things lie below the folder, beside certmagic's own.
const (
	pairKey  = "edge/pair.pem"
	stateKey = "edge/state.json"
)

// state is what has to be known after a restart.
type state struct {
	Directory string           `json:"directory"` // of the authority that issued the pair
	Serial    string           `json:"serial"`
	Obtained  time.Time        `json:"obtained"`
	Jitter    float64          `json:"jitter"`
	Advice    *rfc.RenewalInfo `json:"advice,omitempty"`

	Failures int       `json:"failures"` // in a row
	Tried    time.Time `json:"tried"`    // the last attempt, written before it is made
}

// store keeps the pair and the state.
type store struct {
	files *certmagic.FileStorage
}

// load returns what was kept; the pair is nil if there is none.
func (s store) load(ctx context.Context) (*certfile.Pair, state, error) {
	var kept state
	text, err := s.read(ctx, stateKey)
	if err != nil {
		return nil, state{}, err
	}
	if text != nil {
		if err := json.Unmarshal(text, &kept); err != nil {
			return nil, state{}, fmt.Errorf("%s: %w", s.path(stateKey), err)
		}
	}
	both, err := s.read(ctx, pairKey)
	if err != nil || both == nil {
		return nil, kept, err
	}
	pair, err := certfile.Parse(s.from(), both, both)
	if err != nil {
		return nil, kept, err
	}
	return pair, kept, nil
}

// from names the pair in reasons.
func (s store) from() certfile.Files {
	return certfile.Files{Chain: s.path(pairKey), Key: s.path(pairKey)}
}

func (s store) path(key string) string { return filepath.Join(s.files.Path, filepath.FromSlash(key)) }

// read returns nil for what is not there.
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

func (s store) savePair(ctx context.Context, p *certfile.Pair) error {
	ctx = context.WithoutCancel(ctx) // it was paid for, whoever is in a hurry to stop
	if err := s.files.Store(ctx, pairKey, append([]byte(p.Key.Reveal()), p.Chain...)); err != nil {
		return fmt.Errorf("acme: keep the certificate: %w", err)
	}
	return nil
}

func (s store) saveState(ctx context.Context, kept state) error {
	text, err := json.Marshal(kept)
	if err == nil {
		err = s.files.Store(context.WithoutCancel(ctx), stateKey, text)
	}
	if err != nil {
		return fmt.Errorf("acme: keep the state: %w", err)
	}
	return nil
}
