package wire_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
)

// TestResponsesDoNotGrow requires short faults for long requests.
func TestResponsesDoNotGrow(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ab\u20ac", 40_000)
	name := strings.Repeat("a", 200_000)
	tests := map[string]string{
		"value":     sale("<amount>" + long + "</amount>"),
		"secret":    card("<cardNumber>" + long + "</cardNumber>"),
		"name":      sale("<" + name + "/>"),
		"namespace": sale(`<a xmlns="` + long + `"/>`),
		"attribute": sale("<amount " + name + `="">1</amount>`),
		"key":       `{"authenticateTestRequest":{"` + name + `":1}}`,
	}
	for format, body := range tests {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			_, fault := wire.Parse([]byte(body), wire.Options{})
			if fault == nil {
				t.Fatal("accepted")
			}
			if n := len(fault.Text); n > 10_000 || !utf8.ValidString(fault.Text) {
				t.Errorf("%d bytes, valid %v", n, utf8.ValidString(fault.Text))
			}
		})
	}
}
