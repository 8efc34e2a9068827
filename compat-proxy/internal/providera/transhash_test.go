package providera_test

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
)

// signatureKey is the signature key of the login "signed".
const signatureKey = "0B30557A9FC4E90E33587DA2C7EC11365B80A5CAEF14395E83A8CDF2173C6186" +
	"ABD0F51A3F6489AED3F81D42678CB1D6FB20456A8FB4D9FE23486D92B7DC0126"

// saleHash is the HMAC of "^signed^60410000123^24.50^" under signatureKey, computed with openssl.
const saleHash = "859AE9CE5FF55228922BD9B4F590EC9F2FF0DD5C437DC14CDE95D9F3F15E3F0B" +
	"4D144513F4CD9C48B7F938818DFF57B4ADFB27BF8EC9168ECC81FCF8FF38D314"

// hashForm finds transHashSha2 in a response of either notation.
var hashForm = regexp.MustCompile(`<transHashSha2>(\w*)</|<transHashSha2 />|"transHashSha2":"(\w*)"`)

// mustHash returns the transHashSha2 of a response. It fails the test if the element is missing.
func mustHash(t *testing.T, response []byte) string {
	t.Helper()
	match := hashForm.FindSubmatch(response)
	if match == nil {
		t.Fatalf("got %s, want a transHashSha2 in it", response)
	}
	return string(match[1]) + string(match[2])
}

// hashOf returns the HMAC of a message under signatureKey, by the contract's row 23 of table 4.2.
func hashOf(t *testing.T, message string) string {
	t.Helper()
	key, err := hex.DecodeString(signatureKey)
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha512.New, key)
	mac.Write([]byte(message))
	return fmt.Sprintf("%X", mac.Sum(nil))
}

// signedLogin replaces the login of a golden case's request.
var signedLogin = strings.NewReplacer("demoLogin1", "signed", "demoKey000000001", "demoKey000000004")

// hashedCases are requests of golden cases, and the messages of the hashes of their responses.
var hashedCases = []struct {
	name, golden string
	change       *strings.Replacer // of the request
	want         string            // the message
}{
	{"sale", "x1-sale", nil, "^signed^60410000123^24.50^"},
	{"JSON number with one decimal", "j1-authorize", nil, "^signed^60410000150^12.50^"},
	{"decline", "x2-decline", nil, "^signed^60410000124^24.50^"},
	{"decline, whole number", "json-decline", nil, "^signed^60410000304^5.00^"},
	{"error", "card-luhn", nil, "^signed^0^24.50^"},
	{"error, no amount", "amount-missing", nil, "^signed^0^0.00^"},
	{"error, negative amount", "amount-negative", nil, "^signed^0^-1.00^"},
	{"test request", "test-request", nil, "^signed^0^24.50^"},
	{"capture in part", "x5-partial-capture", nil, "^signed^60410000130^20.00^"},
	{"capture of all", "capture-all", nil, "^signed^60410000130^0.00^"},
	{"void", "x7-void", nil, "^signed^60410000123^0.00^"},
	{"void of a voided payment", "void-twice", nil, "^signed^0^0.00^"},
	{"refund", "refund", nil, "^signed^60410000125^4.50^"},
	{"partial approval has the requested amount", "partial-sale", nil, "^signed^60410000123^24.50^"},
	{"verification", "authorize-zero", nil, "^signed^60410000123^0.00^"},
	{"currency without decimals", "partial-yen", nil, "^signed^60410000123^2450.00^"},
	{
		"zeros, sign and white space", "x1-sale", strings.NewReplacer(">24.50<", "> +024.5000 <"),
		"^signed^60410000123^24.50^",
	},
	{
		"currency with three decimals", "card-luhn",
		strings.NewReplacer(">24.50</amount>", ">24.567</amount><currencyCode>KWD</currencyCode>"),
		"^signed^0^24.567^",
	},
}

// TestTransHash sends requests of golden cases under a login with a signature key, in both
// notations.
func TestTransHash(t *testing.T) {
	t.Parallel()
	for _, tt := range hashedCases {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join("testdata", tt.golden)
			request, ext := mustRequest(t, dir)
			request = []byte(signedLogin.Replace(string(request)))
			if tt.change != nil {
				request = []byte(tt.change.Replace(string(request)))
			}
			other := asXML
			if ext == ".xml" {
				other = asJSON
			}
			for _, r := range [][]byte{request, other(t, request)} {
				_, response := responseTo(t, mustScenario(t, filepath.Join(dir, "case.json")), r)
				if got, want := mustHash(t, response), hashOf(t, tt.want); got != want {
					t.Errorf("transHashSha2: got %q, want %q, in %s", got, want, response)
				}
			}
		})
	}
}

// TestTransHash_vector compares with a hash that another program computed.
func TestTransHash_vector(t *testing.T) {
	t.Parallel()
	if got := hashOf(t, "^signed^60410000123^24.50^"); got != saleHash {
		t.Errorf("got %s, want %s", got, saleHash)
	}
}

// TestTransHash_empty checks logins without a signature key.
func TestTransHash_empty(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("testdata", "x1-sale")
	request, _ := mustRequest(t, dir)
	withAPIKey := strings.NewReplacer("demoLogin1", "signed", "demoKey000000001", goldentest.APIKey)
	for name, tt := range map[string]struct{ authorization, request string }{
		"no key in the entry":        {"", string(request)},
		"API key as transaction key": {"", withAPIKey.Replace(string(request))},
		"Bearer key":                 {"Bearer " + goldentest.APIKey, signedLogin.Replace(string(request))},
	} {
		s := mustScenario(t, filepath.Join(dir, "case.json"))
		s.Authorization = tt.authorization
		if _, response := responseTo(t, s, []byte(tt.request)); mustHash(t, response) != "" {
			t.Errorf("%s: got %s, want an empty transHashSha2", name, response)
		}
	}
}
