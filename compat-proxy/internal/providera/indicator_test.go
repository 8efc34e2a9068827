package providera_test

import (
	"strings"
	"testing"
)

// TestAuthorizationIndicator: details name an authorization final if the client requested that, and
// otherwise as the provider does.
func TestAuthorizationIndicator(t *testing.T) {
	t.Parallel()
	const authorize, final = "authOnlyTransaction", `"final_authorization": "true"`
	for _, c := range []struct{ transactionType, indicator, stored, want string }{
		{authorize, "", `{}`, "pre"},
		{authorize, "pre", `{}`, "pre"},
		{authorize, "final", "{" + final + "}", "final"},
		{"authCaptureTransaction", "pre", `{}`, "final"},
	} {
		request, _ := mustRequest(t, "testdata/partial-authorize")
		sent := strings.NewReplacer(authorize, c.transactionType, "</transactionSettings>", "</transactionSettings>"+
			"<authorizationIndicatorType><authorizationIndicator>"+c.indicator+"</authorizationIndicator>"+
			"</authorizationIndicatorType>").Replace(string(request))
		if c.indicator == "" {
			sent = string(request)
		}
		commands, _ := responseTo(t, mustScenario(t, "testdata/partial-authorize/case.json"), []byte(sent))
		if strings.Contains(string(commands), final) != strings.Contains(c.stored, final) {
			t.Errorf("%s %s: got %s, want %s in its metadata", c.transactionType, c.indicator, commands, c.stored)
		}
		request, _ = mustRequest(t, "testdata/details-authorized")
		s := mustScenario(t, "testdata/details-authorized/case.json")
		stored := strings.NewReplacer(`"metadata": {}`, `"metadata": `+c.stored)
		if c.transactionType != authorize {
			stored = strings.NewReplacer(`"manual"`, `"automatic"`)
		}
		s.V1[0].Response = []byte(stored.Replace(string(s.V1[0].Response)))
		_, got := responseTo(t, s, request)
		if !strings.Contains(string(got), "<authorizationIndicator>"+c.want+"<") {
			t.Errorf("%s %s: got %s, want %s", c.transactionType, c.indicator, got, c.want)
		}
	}
}

// TestDetailsOfBankAuthorization: details name the type of the request, although v1 has a debit.
func TestDetailsOfBankAuthorization(t *testing.T) {
	t.Parallel()
	request, _ := mustRequest(t, "testdata/details-bank-account")
	s := mustScenario(t, "testdata/details-bank-account/case.json")
	s.V1[0].Response = []byte(strings.Replace(string(s.V1[0].Response), `"echeck_type"`,
		`"authorization_only": "true", "echeck_type"`, 1))
	_, got := responseTo(t, s, request)
	if !strings.Contains(string(got), "<transactionType>authOnlyTransaction<") {
		t.Errorf("got %s, want the type of an authorization", got)
	}
}
