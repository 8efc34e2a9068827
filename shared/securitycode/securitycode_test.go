package securitycode_test

import (
	"testing"

	"github.com/causeway-pay/causeway/shared/jsonscan"
	"github.com/causeway-pay/causeway/shared/securitycode"
)

func isCode(m jsonscan.Member) bool { return m.Name == "cvc" }

func TestWithout(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"a":1,"cvc":"123","b":2}`:                   `{"a":1,"b":2}`,
		`{"cvc":"123"}`:                               `{}`,
		"{ \"b\" : [ {\"cvc\":{\"x\":[1]},\"c\":1}]}": `{"b":[{"c":1}]}`,
		`{"c\u0076c":123,"a":"cvc"}`:                  `{"a":"cvc"}`,
		`["cvc","123"]`:                               `["cvc","123"]`,
		`12345678901234567890`:                        `12345678901234567890`,
		`{"n":1.50,"m":"é\u00e9"}`:                    `{"n":1.50,"m":"éé"}`,
		``:                                            ``,
	} {
		got, err := securitycode.Without([]byte(text), isCode)
		if err != nil || string(got) != want {
			t.Errorf("%s: got %s, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{`{`, `{"cvc":"123"`, `{"cvc":1,"cvc":2}`, `{"cvc":}`, `{"a":1}}`, "{\"a\":\"\xff\"}"} {
		if got, err := securitycode.Without([]byte(text), isCode); err == nil {
			t.Errorf("%s: got %s, want an error", text, got)
		}
	}
}
