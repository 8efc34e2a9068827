package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/core/internal/admin"
	"github.com/causeway-pay/causeway/core/internal/operator"
)

func (m *Main) merchants(ctx context.Context, args []string) error {
	f, at := m.flags("merchants")
	settings := settingsFlags(f)
	words, err := m.words(f, args)
	if err != nil {
		return err
	}
	if _, err := settings.Change(); err != nil {
		if invalid, ok := errors.AsType[*operator.FieldError](err); ok {
			return m.misused(flagged(err.Error(), invalid))
		}
		return err
	}
	same := *settings == operator.MerchantUpdate{}
	verb := strings.Join(words[:min(len(words), 1)], "")
	switch {
	case verb == "list" && len(words) == 1 && same:
		return m.listMerchants(ctx, at)
	case verb == "create" && len(words) == 2 && settings.Name == nil:
		settings.Name = &words[1]
		return m.administerBy(ctx, admin.Create, at, func(a *admin.Admin) (string, error) { return a.CreateMerchantWith(ctx, *settings) })
	case verb == "update" && len(words) == 2:
		if same {
			return m.misused("merchants update: want --name, --time-zone, --cutoff, --unlinked-refunds, --keep-personal-data or --keep-customers")
		}
		return m.administer(ctx, at, func(a *admin.Admin) (string, error) { return words[1], a.UpdateMerchant(ctx, words[1], *settings) })
	case (verb == "disable" || verb == "enable") && len(words) == 2 && same:
		return m.administer(ctx, at, func(a *admin.Admin) (string, error) {
			return words[1], a.DisableMerchant(ctx, words[1], verb == "disable")
		})
	}
	return m.misused("merchants: want create NAME, list, update mer_…, disable mer_… or enable mer_…")
}

// settingsFlags adds the flags of a merchant's settings. A flag that is not given leaves its field
// nil.
func settingsFlags(f *flag.FlagSet) *operator.MerchantUpdate {
	u := &operator.MerchantUpdate{}
	text := func(name string, field **string) {
		f.Func(name, "", func(value string) error { *field = &value; return nil })
	}
	text("name", &u.Name)
	text("time-zone", &u.TimeZone)
	text("cutoff", &u.Cutoff)
	days := func(name string, field **int) {
		f.Func(name, "", func(value string) error {
			n, err := strconv.Atoi(value)
			*field = &n
			return err
		})
	}
	days("keep-personal-data", &u.KeepPersonalDays)
	days("keep-customers", &u.KeepCustomersDays)
	f.Func("unlinked-refunds", "", func(value string) error {
		on := value == "on"
		if u.UnlinkedRefunds = &on; !on && value != "off" {
			return errors.New("want on or off")
		}
		return nil
	})
	return u
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func (m *Main) listMerchants(ctx context.Context, at *storeFlags) error {
	return m.list(ctx, at, func(a *admin.Admin, w io.Writer) error {
		found, err := a.ListMerchants(ctx)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w, "id\tcreated\tstatus\tday ends\ttime zone\tunlinked refunds\tkeep personal data\tkeep customers\tname"); err != nil {
			return err
		}
		for _, one := range found {
			_, err := fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%q\n", one.ID, one.CreatedAt.Format(time.RFC3339), one.Status, one.Cutoff, one.TimeZone,
				onOff(one.UnlinkedRefunds), orService(one.KeepPersonalDays), orService(one.KeepCustomersDays), one.Name)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// orService formats a merchant's period in days, or "-" for the service's period.
func orService(days int) string {
	if days == 0 {
		return "-"
	}
	return fmt.Sprintf("%dd", days)
}
