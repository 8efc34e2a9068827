package engine_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/auth"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/root"
	"github.com/causeway-pay/causeway/core/internal/seal"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/clock"
)

// behindCommands is a location of the root secret. It can be read only while no command of a file,
// and no command under an operator token, is running.
type behindCommands struct {
	set      *root.Set
	db       *store.DB
	operator int64
}

// errRead rolls a command back that only needed the lock.
var errRead = errors.New("read")

// Read implements root.Location.
func (b *behindCommands) Read(ctx context.Context) ([]byte, error) {
	ctx, end := context.WithTimeout(ctx, 5*time.Second)
	defer end()
	err := b.db.Update(ctx, func(tx *store.Tx) error {
		if _, _, err := tx.RevokeOperator(0, b.operator); err != nil {
			return err
		}
		return errRead // the operator stays
	})
	if !errors.Is(err, errRead) {
		return nil, fmt.Errorf("a command is running: %w", err)
	}
	return b.set.Bytes()
}

// String implements root.Location.
func (*behindCommands) String() string { return "a test" }

// TestReplayOpensOutsideOfItsCommand: another core has stored a response under a version of the
// root secret that this core has not read. This core reads the root secret for the replay, and no
// command of the request is running meanwhile.
func TestReplayOpensOutsideOfItsCommand(t *testing.T) {
	t.Parallel()
	create := func(ctx context.Context, e *engine.Engine, r engine.Request) (engine.Result, error) {
		return e.CreateOperator(ctx, r, payment.OperatorToken{Name: "bob", Role: auth.RoleOperator})
	}
	for name, again := range map[string]func(context.Context, *engine.Engine, engine.Request) (engine.Result, error){
		"the same request": create,
		"a refused request": func(ctx context.Context, e *engine.Engine, r engine.Request) (engine.Result, error) {
			return e.StoredResponseInTurn(ctx, r)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			operator, r := mustOperator(t, s)
			r.Key, r.Fingerprint = "k", []byte("fingerprint")
			first, err := root.New(coretest.Birth)
			if err != nil {
				t.Fatal(err)
			}
			at := &behindCommands{first, s.DB, operator}
			ring, err := root.Open(t.Context(), at, s.Clock)
			if err != nil {
				t.Fatal(err)
			}
			if at.set, err = first.Rotated(coretest.Birth); err != nil {
				t.Fatal(err)
			}
			other := root.Of(at.set, clock.NewFake(coretest.Birth.Add(root.Activation)))
			want, err := create(t.Context(), under(s, other), r)
			if err != nil {
				t.Fatal(err)
			}
			got, err := again(t.Context(), under(s, ring), r)
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
