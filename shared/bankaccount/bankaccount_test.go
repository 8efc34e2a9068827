package bankaccount_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/bankaccount"
)

func TestValidRouting(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"244183602", "121042882", "110000000", "021000021", "011401533"} {
		if !bankaccount.ValidRouting(good) {
			t.Errorf("%s: got invalid, want valid", good)
		}
		for at := range len(good) {
			wrong := []byte(good)
			wrong[at] = '0' + (wrong[at]-'0'+1)%10
			if bankaccount.ValidRouting(string(wrong)) {
				t.Errorf("%s, one digit off %s: got valid, want invalid", wrong, good)
			}
		}
	}
	for _, bad := range []string{
		"", "0", "000000000", "121042883", "24418360", "2441836020", "24418360x", "٢٤٤١٨٣٦٠٢",
		" 24418360",
	} {
		if bankaccount.ValidRouting(bad) {
			t.Errorf("%q: got valid, want invalid", bad)
		}
	}
}

func TestValidNumber(t *testing.T) {
	t.Parallel()
	for number, want := range map[string]bool{
		"": false, "123": false, "1234": true, "0000": true, "12345678901234567": true, "123456789012345678": false,
		"1234-678": false, "12a4": false,
	} {
		if got := bankaccount.ValidNumber(number); got != want {
			t.Errorf("%q: got %t, want %t", number, got, want)
		}
	}
}

func TestLast4(t *testing.T) {
	t.Parallel()
	for number, want := range map[string]string{
		"": "", "1234": "34", "12345": "45", "1234567": "567", "12345678": "5678",
		"12345678901234567": "4567",
	} {
		if got := bankaccount.Last4(number); got != want {
			t.Errorf("%s: got %s, want %s", number, got, want)
		}
	}
}

func ExampleLast4() {
	fmt.Println(strings.Repeat("*", 8) + bankaccount.Last4("000123456789"))
	// Output: ********6789
}
