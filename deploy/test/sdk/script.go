package sdk

import (
	"os"
	"testing"

	"github.com/go-json-experiment/json"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// values are what a client is asked for, or read, by name: a line that its program takes or prints. What is not there is "".
type values map[string]string

// script is a steps.json: what every client of a dialect does, and what it must read.
type script struct {
	Reads    values            `json:"reads"`    // what clients print of an answer: a name, and where it stands; for programs that are not told otherwise
	Free     []string          `json:"free"`     // what of it may be anything where a step does not say
	Brief    string            `json:"brief"`    // the last step of a walk that is to be a short one
	Requests map[string]values `json:"requests"` // what steps begin from
	Answers  map[string]values `json:"answers"`  // what their wants begin from
	Steps    []step            `json:"steps"`
	Books    map[string]book   `json:"books"` // what v1 has of a step's payment in the end
}

// step is one request, or what befalls an earlier step's payment.
type step struct {
	Settle  string `json:"settle"`
	Expire  string `json:"expire"`
	Step    string `json:"step"`
	Request string `json:"request"`
	Send    values `json:"send"`
	Answer  string `json:"answer"`
	Want    values `json:"want"`
}

type book struct {
	Status     v1.TransactionStatus `json:"status"`
	Amount     v1.Money             `json:"amount"`
	Authorized v1.Money             `json:"authorized"`
	Captured   v1.Money             `json:"captured"`
	Refunded   v1.Money             `json:"refunded"`
	Settlement v1.Settlement        `json:"settlement"`
}

// readScript reads the script of a dialect, by its path in this folder.
func readScript(t *testing.T, path string) *script {
	t.Helper()
	text, err := os.ReadFile(absolute(t, path))
	if err != nil {
		t.Fatal(err)
	}
	var s script
	if err := json.Unmarshal(text, &s, json.RejectUnknownMembers(true)); err != nil {
		t.Fatal(err)
	}
	return &s
}
