package policy_test

import (
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/mle-filter/internal/policy"
)

const (
	off, optional, required = policy.Off, policy.Optional, policy.Required
	strict, half            = "mer_01jd8m3k2q4r5", "mer_01jd8m3k2q4r6"
)

func TestRule(t *testing.T) {
	t.Parallel()
	table, err := policy.New(policy.Config{
		Routes: []policy.Route{
			{Method: "GET", Path: "/v1/mle/**", MLE: off},
			{Method: "POST", Path: "/v1/tokens", MLE: required, Response: required},
			{Method: "POST", Path: "/v1/transactions/{id}/captures", MLE: required},
			{Path: "/v1/transactions/{id}", Response: required},
			{Path: "/v1/customers/**", Response: required},
		},
		Merchants: map[string]policy.Merchant{strict: {MLE: required}, half: {Response: required}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		method, path, merchant string
		request, response      policy.Level
	}{
		"named":                     {"POST", "/v1/tokens", "", required, required},
		"another method":            {"GET", "/v1/tokens", "", optional, optional},
		"not named":                 {"POST", "/v1/refunds", "", optional, optional},
		"template":                  {"POST", "/v1/transactions/txn_1/captures", "", required, optional},
		"template, shorter":         {"POST", "/v1/transactions/txn_1", "", optional, required},
		"template, longer":          {"POST", "/v1/transactions/txn_1/captures/a", "", optional, optional},
		"rest":                      {"GET", "/v1/customers/cus_1/payment_methods", "", optional, required},
		"rest, of nothing":          {"GET", "/v1/customers", "", optional, required},
		"rest, but a longer name":   {"GET", "/v1/customersx", "", optional, optional},
		"off":                       {"GET", "/v1/mle/keys/current", "", off, off},
		"off for a strict merchant": {"GET", "/v1/mle/keys", strict, off, off},
		"strict merchant":           {"POST", "/v1/refunds", strict, required, optional},
		"strict merchant in a mode": {"POST", "/v1/refunds", strict + "/test", required, optional},
		"half strict merchant":      {"POST", "/v1/refunds", half, optional, required},
		"both":                      {"POST", "/v1/tokens", half, required, required},
		"doubled slash":             {"POST", "//v1//tokens", "", required, required},
		"slash at the end":          {"POST", "/v1/tokens/", "", required, required},
		"dots":                      {"POST", "/v1/x/../tokens", "", required, required},
		"escaped dots":              {"POST", "/v1/mle/%2e%2e/tokens", "", required, required},
		"escaped slash":             {"POST", "/v1%2ftokens", "", required, required},
		"escaped letter":            {"POST", "/v1/%74okens", "", required, required},
		"backslash":                 {"POST", `/v1\tokens`, "", required, required},
		"above the root":            {"POST", "/../../v1/tokens", "", required, required},
		"no slash":                  {"POST", "v1/tokens", "", required, required},
		"broken escape":             {"POST", "/v1/tokens/%zz/..", "", required, required},
		"root":                      {"GET", "/", "", optional, optional},
		"nothing":                   {"GET", "", "", optional, optional},
		"another case":              {"POST", "/V1/Tokens", "", optional, optional}, // core distinguishes these paths too
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, want := table.Rule(c.method, c.path,
				c.merchant), (policy.Rule{Request: c.request, Response: c.response}); got != want {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

func TestZeroTable(t *testing.T) {
	t.Parallel()
	table, err := policy.New(policy.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if got := table.Rule("POST", "/v1/tokens", strict); got != (policy.Rule{Request: optional, Response: optional}) ||
		table.ByMerchant() {
		t.Errorf("got %v and %v, want all optional for everybody", got, table.ByMerchant())
	}
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]policy.Config{
		"unknown level":           {Routes: []policy.Route{{Path: "/v1", MLE: "on"}}},
		"unknown response level":  {Routes: []policy.Route{{Path: "/v1", Response: "always"}}},
		"level in capitals":       {Routes: []policy.Route{{Path: "/v1", MLE: "Required"}}},
		"no path":                 {Routes: []policy.Route{{MLE: required}}},
		"path without slash":      {Routes: []policy.Route{{Path: "v1"}}},
		"path with doubled slash": {Routes: []policy.Route{{Path: "/v1//a"}}},
		"path with slash at end":  {Routes: []policy.Route{{Path: "/v1/"}}},
		"path with escape":        {Routes: []policy.Route{{Path: "/v1/%61"}}},
		"rest in the middle":      {Routes: []policy.Route{{Path: "/v1/**/a"}}},
		"half a star":             {Routes: []policy.Route{{Path: "/v1/*"}}},
		"half a segment":          {Routes: []policy.Route{{Path: "/v1/a{id}"}}},
		"two names in one":        {Routes: []policy.Route{{Path: "/v1/{a}{b}"}}},
		"path with a query":       {Routes: []policy.Route{{Path: "/v1/a?b=c"}}},
		"path with a fragment":    {Routes: []policy.Route{{Path: "/v1/a#b"}}},
		"path with a space":       {Routes: []policy.Route{{Path: "/v1/a "}}},
		"path with a line break":  {Routes: []policy.Route{{Path: "/v1/a\n"}}},
		"a method there is not":   {Routes: []policy.Route{{Method: "FOO", Path: "/v1"}}},
		"method in small letters": {Routes: []policy.Route{{Method: "post", Path: "/v1"}}},
		"star for method":         {Routes: []policy.Route{{Method: "*", Path: "/v1"}}},
		"off, responses required": {Routes: []policy.Route{{Path: "/v1", MLE: off, Response: required}}},
		"responses off":           {Routes: []policy.Route{{Path: "/v1", Response: off}}},
		"the same twice":          {Routes: []policy.Route{{Path: "/v1/{a}"}, {Path: "/v1/{b}"}}},
		"hidden by rest": {
			Routes: []policy.Route{{Path: "/v1/**"}, {Method: "POST", Path: "/v1/tokens", MLE: required}},
		},
		"hidden by template":       {Routes: []policy.Route{{Path: "/v1/{a}"}, {Path: "/v1/tokens", MLE: required}}},
		"merchant off":             {Merchants: map[string]policy.Merchant{strict: {MLE: off}}},
		"merchant's responses off": {Merchants: map[string]policy.Merchant{strict: {Response: off}}},
		"merchant unknown level":   {Merchants: map[string]policy.Merchant{strict: {MLE: "yes"}}},
		"merchant in a mode":       {Merchants: map[string]policy.Merchant{strict + "/live": {MLE: required}}},
		"merchant without id":      {Merchants: map[string]policy.Merchant{"": {MLE: required}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := policy.New(cfg); err == nil {
				t.Error("got a table, want an error")
			}
		})
	}
}

// TestFirstBadMerchantIsNamed checks that of two invalid merchants, the error names the first.
func TestFirstBadMerchantIsNamed(t *testing.T) {
	t.Parallel()
	for range 40 {
		_, err := policy.New(policy.Config{
			Merchants: map[string]policy.Merchant{"mer_b": {MLE: "yes"}, "mer_a": {MLE: "yes"}},
		})
		if err == nil || !strings.Contains(err.Error(), "mer_a") {
			t.Fatalf("got %v, want mer_a named", err)
		}
	}
}

// TestMerchantsThatChangeNothing checks that a merchant's rule without an effect is rejected by
// name.
func TestMerchantsThatChangeNothing(t *testing.T) {
	t.Parallel()
	type routes = []policy.Route
	all := func(mle, response policy.Level) policy.Route {
		return policy.Route{Path: "/**", MLE: mle, Response: response}
	}
	for name, c := range map[string]struct {
		id      string
		line    policy.Merchant
		routes  routes
		applies bool
	}{
		"as it is meant":  {strict, policy.Merchant{MLE: required}, nil, true},
		"responses alone": {strict, policy.Merchant{Response: required}, nil, true},
		"nothing":         {strict, policy.Merchant{}, nil, false},
		"optional":        {strict, policy.Merchant{MLE: optional, Response: optional}, nil, false},
		"one route requires it": {
			strict, policy.Merchant{MLE: required}, routes{{Path: "/v1/tokens", MLE: required}}, true,
		},
		"all routes require it": {strict, policy.Merchant{MLE: required}, routes{all(required, "")}, false},
		"all require it, not responses": {
			strict, policy.Merchant{MLE: required, Response: required}, routes{all(required, "")}, true,
		},
		"all require more": {strict, policy.Merchant{MLE: required}, routes{all(required, required)}, false},
		"all but one": {
			strict, policy.Merchant{MLE: required}, routes{{Path: "/v1/tokens"}, all(required, "")}, true,
		},
		"all but one that is off": {
			strict, policy.Merchant{MLE: required}, routes{{Path: "/v1/health", MLE: off}, all(required, "")}, false,
		},
		"all of a method": {
			strict, policy.Merchant{MLE: required}, routes{{Method: "POST", Path: "/**", MLE: required}}, true,
		},
		"all off":            {strict, policy.Merchant{MLE: required}, routes{all(off, "")}, false},
		"all weaker":         {strict, policy.Merchant{MLE: required}, routes{all(optional, required)}, true},
		"a name":             {"acme", policy.Merchant{MLE: required}, nil, false},
		"a short id":         {"mer_1", policy.Merchant{MLE: required}, nil, false},
		"another kind of id": {"txn_01jd8m3k2q4r5", policy.Merchant{MLE: required}, nil, false},
		"an id in capitals":  {"mer_01JD8M3K2Q4R5", policy.Merchant{MLE: required}, nil, false},
	} {
		_, err := policy.New(policy.Config{Routes: c.routes, Merchants: map[string]policy.Merchant{c.id: c.line}})
		if c.applies != (err == nil) || err != nil && !strings.Contains(err.Error(), c.id) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestLaterRouteThatIsNotHidden(t *testing.T) {
	t.Parallel()
	for name, routes := range map[string][]policy.Route{
		"wider":          {{Path: "/v1/tokens"}, {Path: "/v1/**"}},
		"another method": {{Method: "GET", Path: "/v1/**"}, {Method: "POST", Path: "/v1/**"}},
		"any method":     {{Method: "GET", Path: "/v1/a"}, {Path: "/v1/a"}},
		"longer":         {{Path: "/v1/{a}"}, {Path: "/v1/{a}/b"}},
	} {
		if _, err := policy.New(policy.Config{Routes: routes}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
