package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/shared/rowmac"
)

// The outcomes of records. A refused or failed action has the code of its error.
const (
	Done     = "done"
	Begun    = "begun" // of an action without a database commit; a record of its end follows
	Failed   = "failed"
	Replayed = "replayed" // a repeated request got the stored response
)

// Purged is the action of the record that a purge of old records leaves.
const Purged = "audit.purge"

// Actor is the operator of an action. The zero Actor means a merchant's own request.
type Actor struct {
	Name    string // "operator alice opr_…", "cli root"
	Address string // the client address, "" at the command line
	Token   int64  // the id of the operator token, 0 if the actor has none in the store
}

// IsZero reports whether there is no operator.
func (a Actor) IsZero() bool { return a.Name == "" }

// Record is one action of an operator.
type Record struct {
	Sequence      int64     // 1, 2, 3, … without a gap
	At            time.Time // UTC, milliseconds
	Actor         string
	ClientAddress string // "" at the command line
	Action        string // "merchants.update"
	Object        string // the id of the object, "" for none
	Before, After string // JSON of the object, without secrets; "" for none
	Outcome       string
	RequestID     string // req_…
	Previous      []byte // the MAC of the record before, empty for the first
	MAC           []byte
}

// Sign sets the MAC, over Previous and all other fields.
func (r *Record) Sign(key []byte) { r.MAC = r.mac(key) }

func (r *Record) mac(key []byte) []byte {
	return rowmac.Of(key, "causeway audit 1",
		string(r.Previous), strconv.FormatInt(r.Sequence, 10), strconv.FormatInt(r.At.UnixMilli(), 10),
		r.Actor, r.ClientAddress, r.Action, r.Object, r.Before, r.After, r.Outcome, r.RequestID)
}

// Head names a record and its MAC. A logged head later proves that no record up to it was removed.
type Head struct {
	Sequence int64 // 0 before the first record
	MAC      []byte
}

// String returns the form for logs and command lines: "17:9f86d081…", 64 hexadecimal digits.
func (h Head) String() string {
	return strconv.FormatInt(h.Sequence, 10) + ":" + hex.EncodeToString(h.MAC)
}

// ParseHead reads the form of String.
func ParseHead(text string) (Head, error) {
	number, digits, _ := strings.Cut(text, ":")
	n, err := strconv.ParseInt(number, 10, 64)
	mac, hexErr := hex.DecodeString(digits)
	if err != nil || hexErr != nil || n < 1 || len(mac) != sha256.Size {
		return Head{}, fmt.Errorf("audit head %q: want SEQUENCE:MAC, as core logs it and `core audit verify` prints it", text)
	}
	return Head{n, mac}, nil
}
