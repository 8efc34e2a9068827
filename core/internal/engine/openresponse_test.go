package engine_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/root"
	"github.com/causeway-pay/causeway/core/internal/seal"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/clock"
)

// behindWriter is a location of the root secret that can be read only while a command can be run.
// On SQLite no other command can run then.
type behindWriter struct {
	set *root.Set
	db  *store.DB
}

// Read implements root.Location.
func (b *behindWriter) Read(ctx context.Context) ([]byte, error) {
	ctx, end := context.WithTimeout(ctx, 5*time.Second)
	defer end()
	if err := b.db.Update(ctx, func(*store.Tx) error { return nil }); err != nil {
		return nil, fmt.Errorf("the store's writer is in use: %w", err)
	}
	return b.set.Bytes()
}

// String implements root.Location.
func (*behindWriter) String() string { return "a test" }

// TestReplayOpensOutsideOfACommand: another core has stored a response under a version of the root
// secret that this core has not read. This core reads the root secret for the replay, and no
// command of the store runs meanwhile.
func TestReplayOpensOutsideOfACommand(t *testing.T) {
	t.Parallel()
	create := func(s *coretest.Service, e *engine.Engine) (engine.Result, error) {
		return e.CreateKey(t.Context(), s.Request("k"), s.Tenant, apikey.AllScopes(), engine.NewKey{Kind: apikey.Secret})
	}
	for name, again := range map[string]func(*coretest.Service, *engine.Engine) (engine.Result, error){
		"the same request": create,
		"a refused request": func(s *coretest.Service, e *engine.Engine) (engine.Result, error) {
			r := s.Request("k")
			r.Scopes = apikey.AllScopes()
			return e.StoredResponseInTurn(t.Context(), r)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			first, err := root.New(coretest.Birth)
			if err != nil {
				t.Fatal(err)
			}
			at := &behindWriter{first, s.DB}
			ring, err := root.Open(t.Context(), at, s.Clock)
			if err != nil {
				t.Fatal(err)
			}
			if at.set, err = first.Rotated(coretest.Birth); err != nil {
				t.Fatal(err)
			}
			other := root.Of(at.set, clock.NewFake(coretest.Birth.Add(root.Activation)))
			want, err := create(s, under(s, other))
			if err != nil {
				t.Fatal(err)
			}
			got, err := again(s, under(s, ring))
			if err != nil || !got.Replayed || string(got.Body) != string(want.Body) {
				t.Errorf("got %s, %v, want a replay of %s", got.Body, err, want.Body)
			}
		})
	}
}

// under returns another engine of the service, with its own root secret.
func under(s *coretest.Service, roots *root.Ring) *engine.Engine {
	c := s.Engine.Config
	c.Roots, c.Sealer = roots, seal.New(roots)
	return engine.New(c)
}
