package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/core/internal/admin"
	"github.com/causeway-pay/causeway/core/internal/auth"
	"github.com/causeway-pay/causeway/shared/clock"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// operators makes, lists and revokes operator tokens.
func (m *Main) operators(ctx context.Context, args []string) error {
	f, at := m.flags("operators")
	role := f.String("role", auth.RoleOperator, "")
	lasts := f.Duration("expires", 0, "")
	words, err := m.words(f, args)
	if err != nil {
		return err
	}
	if *lasts < 0 {
		return m.misused(fmt.Sprintf("--expires %s: want 0 or more", *lasts))
	}
	switch verb := strings.Join(words[:min(len(words), 1)], ""); {
	case verb == "create" && len(words) == 2:
		var until time.Time
		if *lasts > 0 {
			until = clock.System().Now().Add(*lasts)
		}
		return m.administerBy(ctx, admin.Create, at, func(a *admin.Admin) (string, error) {
			token, err := a.CreateOperator(ctx, words[1], *role, until)
			return token.Reveal(), err
		})
	case verb == "list" && len(words) == 1:
		return m.listOperators(ctx, at)
	case verb == "revoke" && len(words) == 2:
		return m.administer(ctx, at, func(a *admin.Admin) (string, error) {
			return "revoked " + words[1], a.RevokeOperator(ctx, words[1])
		})
	}
	return m.misused("operators: want create NAME, list or revoke opr_…")
}

func (m *Main) listOperators(ctx context.Context, at *storeFlags) error {
	return m.list(ctx, at, func(a *admin.Admin, w io.Writer) error {
		found, err := a.ListOperators(ctx)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w, "id\trole\tstatus\tcreated\texpires\tname"); err != nil {
			return err
		}
		for _, o := range found {
			_, err := fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%q\n", o.ID, o.Role, o.Status, moment(&v1.Time{Time: o.CreatedAt.Time}), moment(o.ExpiresAt), o.Name)
			if err != nil {
				return err
			}
		}
		return nil
	})
}
