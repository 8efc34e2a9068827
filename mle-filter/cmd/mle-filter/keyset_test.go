package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
)

// TestKeyset rotates the keyset, and then the key-encryption key. It is not parallel, because
// commands read the environment.
func TestKeyset(t *testing.T) {
	o := newOperator(t)
	kid := o.current(t)
	works := func() {
		t.Helper()
		if _, alg, err := o.ring.Private(t.Context(), shop, kid); err != nil || alg != engine.ECDHESA256KW {
			t.Errorf("got %s, %v", alg, err)
		}
	}
	works()
	for args, want := range map[string]string{
		"rotate": "1 older", "rotate --drop-old": "0 older", "--drop-old rotate": "0 older",
	} {
		command := slices.Concat([]string{"keyset"}, strings.Fields(args), o.common)
		if got := must(t, "", command...); !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s", args, got, want)
		}
		if args == "rotate" { // the order of the map is random: leave no older key behind
			must(t, "", append([]string{"keyset", "rotate", "--drop-old"}, o.common...)...)
		}
		works()
	}
	text, err := kek.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(oldVariable, text.Reveal())
	t.Setenv(kekVariable, strings.Repeat("A", 42)+"E=")
	store := o.common[2:]
	for range 2 {
		must(t, "", append([]string{"keyset", "rewrap"}, store...)...)
	}
	if got := must(t, "", append([]string{"keys", "list"}, store...)...); !strings.Contains(got, kid) {
		t.Errorf("with the new key-encryption key: got %s", got)
	}
	mustFail(t, "", 1, append([]string{"keys", "list"}, o.common...)...) // with the key in the file
	for _, args := range []string{"", "burn", "rewrap --drop-old", "rotate now"} {
		mustFail(t, "", 2, append([]string{"keyset"}, strings.Fields(args)...)...)
	}
	mustFail(t, "", 1, "keyset", "rotate", "--keys", o.keys+".mistyped")
}
