package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/core/internal/admin"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// keyFlags are the flags of all verbs of keys.
type keyFlags struct {
	spec    admin.KeySpec
	scopes  string
	overlap time.Duration
	force   bool
	json    bool
}

func (m *Main) keys(ctx context.Context, args []string) error {
	f, at := m.flags("keys")
	var k keyFlags
	f.StringVar(&k.spec.Merchant, "merchant", "", "")
	f.StringVar(&k.spec.Mode, "mode", "test", "")
	f.StringVar(&k.spec.Kind, "kind", "secret", "")
	f.StringVar(&k.spec.Name, "name", "", "")
	f.StringVar(&k.scopes, "scopes", "", "")
	f.Func("addresses", "", listInto(&k.spec.Addresses))
	f.Func("origins", "", listInto(&k.spec.Origins))
	f.DurationVar(&k.overlap, "overlap", 24*time.Hour, "")
	f.BoolVar(&k.force, "force", false, "")
	f.BoolVar(&k.json, "json", false, "")
	words, err := m.words(f, args)
	if err != nil {
		return err
	}
	switch verb := strings.Join(words[:min(len(words), 1)], ""); {
	case verb == "create" && len(words) == 1:
		return m.createKey(ctx, at, k)
	case verb == "list" && len(words) == 1:
		return m.listKeys(ctx, at, k.spec.Merchant)
	case verb == "inventory" && len(words) == 1:
		return m.inventory(ctx, at, k.json)
	case verb == "roll" && len(words) == 2:
		return m.administer(ctx, at, func(a *admin.Admin) (string, error) {
			key, err := a.RollKey(ctx, words[1], k.overlap, k.spec.Restrictions)
			return key.Reveal(), err
		})
	case verb == "revoke" && len(words) == 2:
		return m.administer(ctx, at, func(a *admin.Admin) (string, error) {
			return "revoked " + words[1], a.RevokeKey(ctx, words[1], k.force)
		})
	}
	return m.misused("keys: want create, list, inventory, roll key_… or revoke key_…")
}

// listInto returns the function of a flag with a list. An empty text is an empty list.
func listInto(list *[]string) func(string) error {
	return func(text string) error {
		*list = slices.DeleteFunc(strings.Split(text, ","), func(one string) bool { return one == "" })
		return nil
	}
}

func (m *Main) createKey(ctx context.Context, at *storeFlags, k keyFlags) error {
	if k.scopes != "" {
		k.spec.Scopes = strings.Split(k.scopes, ",")
	}
	return m.administer(ctx, at, func(a *admin.Admin) (string, error) {
		key, err := a.CreateKey(ctx, k.spec)
		return key.Reveal(), err
	})
}

func (m *Main) listKeys(ctx context.Context, at *storeFlags, merchant string) error {
	return m.list(ctx, at, func(a *admin.Admin, w io.Writer) error {
		found, err := a.ListKeys(ctx, merchant)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w, "id\tmode\tkind\tstatus\thint\tlast used\texpires\tname\tscopes\taddresses\torigins"); err != nil {
			return err
		}
		for _, k := range found {
			name := ""
			if k.Name != nil {
				name = *k.Name
			}
			_, err := fmt.Fprintf(w, "%s\t%s\t%s\t%s\t…%s\t%s\t%s\t%q\t%s\t%s\t%s\n", k.ID, k.Mode, k.Kind, k.Status, k.Hint,
				moment(k.LastUsedAt), moment(k.ExpiresAt), name, strings.Join(k.Scopes, ","), joined(k.AllowedAddresses), joined(k.AllowedOrigins))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// joined returns a list in one column, "-" for none.
func joined(list *[]string) string {
	if list == nil {
		return "-"
	}
	return strings.Join(*list, ",")
}

func moment(t *v1.Time) string {
	if t == nil {
		return "-"
	}
	return t.Format(time.RFC3339)
}
