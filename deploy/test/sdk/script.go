package sdk

import (
	"os"
	"testing"

	"github.com/go-json-experiment/json"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// values are the lines that a client's program takes or prints, by name. A missing line is "".
type values map[string]string

// script is a steps.json: the requests of every client of a dialect, and the expected responses.
type script struct {
	// printed lines, and their place in a response; for programs without their own list
	Reads     values            `json:"reads"`
	Free      []string          `json:"free"`      // lines with any value, unless a step names one
	Brief     string            `json:"brief"`     // the last step of a brief walk
	Requests  map[string]values `json:"requests"`  // templates of requests
	Responses map[string]values `json:"responses"` // templates of expected responses
	Steps     []step            `json:"steps"`
	Final     map[string]record `json:"final"` // final state in v1 of a step's payment
}

// step is one request, or an event of an earlier step's payment.
type step struct {
	Settle   string `json:"settle"`
	Expire   string `json:"expire"`
	Step     string `json:"step"`
	Request  string `json:"request"`
	Send     values `json:"send"`
	Response string `json:"response"`
	Want     values `json:"want"`
}

type record struct {
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
