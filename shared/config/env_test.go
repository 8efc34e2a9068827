package config_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/config"
	"github.com/causeway-pay/causeway/shared/secret"
)

func TestEnvironment(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "key")
	mustWrite(t, file, " from the file\n")
	for name, content := range map[string]string{"empty": "", "newline": "\n", "blank": " \r\n\t\n"} {
		mustWrite(t, file+name, content)
	}
	for _, c := range []struct{ text, file, want, wrong string }{
		{"", "", "", ""},
		{planted, "", planted, ""},
		{"", file, "from the file", ""},
		{planted, file, "", "KEY_FILE"},
		{"", file + "x", "", "KEY_FILE"},
		{"", file + "empty", "", "KEY_FILE"},
		{"", file + "newline", "", "KEY_FILE"},
		{"", file + "blank", "", "KEY_FILE"},
	} {
		getenv := func(name string) string { return map[string]string{"KEY": c.text, "KEY_FILE": c.file}[name] }
		got, err := config.Environment(getenv, "KEY")
		if (err == nil) != (c.wrong == "") || got.Reveal() != c.want {
			t.Errorf("%+v: got %q, %v", c, got.Reveal(), err)
		}
		if err != nil && (!strings.Contains(err.Error(), c.wrong) || strings.Contains(err.Error(), planted)) {
			t.Errorf("got %v, want the name of the variable and no value", err)
		}
		got, err = config.Literal(secret.New("configured")).ResolveOr(getenv, "KEY")
		if err != nil || got.Reveal() != "configured" {
			t.Errorf("%+v: got %q, %v, want what was configured", c, got.Reveal(), err)
		}
		if got, err = (config.Secret{}).ResolveOr(getenv, "KEY"); (err == nil) != (c.wrong == "") || got.Reveal() != c.want {
			t.Errorf("%+v, not configured: got %q, %v", c, got.Reveal(), err)
		}
	}
}
