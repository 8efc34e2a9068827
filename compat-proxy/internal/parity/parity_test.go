package parity_test

import (
	"os"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/catalogue"
	"github.com/causeway-pay/causeway/compat-proxy/internal/parity"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

func TestFor(t *testing.T) {
	t.Parallel()
	const a, b = catalogue.ProviderA, catalogue.ProviderB
	for _, tt := range []struct {
		name, dialect string
		sandbox       bool
		mode          v1.Mode
		rule          parity.Name
		want          bool
	}{
		{"sandbox login in test mode", a, true, v1.ModeTest, parity.ExpiredTrack, true},
		{"sandbox login in live mode", a, true, v1.ModeLive, parity.ExpiredTrack, false},
		{"sandbox login of unknown mode", a, true, "", parity.ExpiredTrack, false},
		{"other login in test mode", a, false, v1.ModeTest, parity.ExpiredTrack, false},
		{"the other dialect's rule", b, true, v1.ModeTest, parity.ExpiredTrack, false},
		{"provider-b", b, true, v1.ModeTest, parity.RepeatedRefund, true},
		{"provider-b in live mode", b, true, v1.ModeLive, parity.RepeatedRefund, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := parity.For(tt.dialect, tt.sandbox, tt.mode).Has(tt.rule); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// TestTable checks that each rule has its evidence, and that its dialect's document has the rule.
func TestTable(t *testing.T) {
	t.Parallel()
	names := map[parity.Name]bool{}
	for _, r := range parity.All() {
		if r.Source == "" || r.Effect == "" || names[r.Name] {
			t.Errorf("%s: source %q, effect %q, want one rule with both", r.Name, r.Source, r.Effect)
		}
		names[r.Name] = true
		path := "../" + strings.ReplaceAll(r.Dialect, "-", "") + "/DIVERGENCES.md"
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "| `"+string(r.Name)+"` |") {
			t.Errorf("%s does not describe the rule %s", path, r.Name)
		}
	}
}
