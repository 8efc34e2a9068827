package simulator

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	pan "github.com/causeway-pay/causeway/shared/card"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// kind is the kind of a request, as the letter that the journal has for it.
type kind byte

const (
	none      kind = 0 // no request: only a void has named this reference
	authorize kind = 'a'
	capture   kind = 'c'
	void      kind = 'v'
	refund    kind = 'r'
	credit    kind = 'o' // an unlinked refund
)

// check is a check result, as the letter the journal writes.
type check byte

const (
	match        check = 'm'
	noMatch      check = 'n'
	unavailable  check = 'u'
	notProvided  check = 'p'
	notProcessed check = 'x'
)

// network is the card network that saw a request, as the letter the journal writes.
type network byte

const (
	noNetwork  network = 0
	mastercard network = 'm' // the one whose payments have a link id
	another    network = 'n'
)

// letter returns the letter that the journal has for a network, a dash for none.
func (n network) letter() byte {
	if n == noNetwork {
		return '-'
	}
	return byte(n)
}

// networkOf returns the network of a letter of the journal.
func networkOf(letter byte) network {
	switch n := network(letter); n {
	case mastercard, another:
		return n
	default:
		return noNetwork
	}
}

// networkOfSource returns the network of a payment source. A bank account has none.
func networkOfSource(s acquirer.Source) network {
	number := asCard(s).Number
	switch {
	case !s.BankAccount.Number.IsZero():
		return noNetwork
	case pan.BrandOf(number) == pan.Mastercard:
		return mastercard
	}
	return another
}

// checkNames are the results of checks, as the v1 contract names them.
var checkNames = map[v1.CheckResult]check{
	v1.CheckResultMatch:        match,
	v1.CheckResultNoMatch:      noMatch,
	v1.CheckResultUnavailable:  unavailable,
	v1.CheckResultNotProvided:  notProvided,
	v1.CheckResultNotProcessed: notProcessed,
}

func (c check) String() string {
	switch c {
	case match:
		return string(v1.CheckResultMatch)
	case noMatch:
		return string(v1.CheckResultNoMatch)
	case unavailable:
		return string(v1.CheckResultUnavailable)
	case notProvided:
		return string(v1.CheckResultNotProvided)
	case notProcessed:
		return string(v1.CheckResultNotProcessed)
	}
	return ""
}

// letter returns the letter that the journal has for a check, a dash if it was not requested.
func (c check) letter() byte {
	if c == 0 {
		return '-'
	}
	return byte(c)
}

// checks are the results for the CVC, the address line and the postal code; all zero for a step
// that checks nothing.
type checks [3]check

// codes are the network's own characters for the checks, 0 for none.
type codes struct{ avs, cvc, cavv byte }

func (c codes) shown() acquirer.ResultCodes {
	return acquirer.ResultCodes{AVS: resultCode(c.avs), CVC: resultCode(c.cvc), CAVV: resultCode(c.cavv)}
}

// journaled returns the codes as the journal has them, a dash for no code.
func (c codes) journaled() []byte {
	out := []byte{c.avs, c.cvc, c.cavv}
	for i, b := range out {
		if b == 0 {
			out[i] = '-'
		}
	}
	return out
}

func resultCode(b byte) string {
	if b == 0 {
		return ""
	}
	return string(rune(b))
}

// declineCodes maps each decline code of the v1 contract to a number. The first is not a decline.
var declineCodes = [...]v1.DeclineCode{
	"", v1.DeclineCodeGenericDecline, v1.DeclineCodeInsufficientFunds, v1.DeclineCodeCallIssuer, v1.DeclineCodePickupCard,
	v1.DeclineCodeLostCard, v1.DeclineCodeStolenCard, v1.DeclineCodeExpiredCard, v1.DeclineCodeIncorrectCvc,
	v1.DeclineCodeIncorrectAddress, v1.DeclineCodeDoNotHonor, v1.DeclineCodeCardNotSupported, v1.DeclineCodeLimitExceeded,
	v1.DeclineCodeSuspectedFraud, v1.DeclineCodeProcessingError, v1.DeclineCodeRetryNotAllowed,
}

// verdict is whether and why a request is declined.
type verdict struct {
	decline  uint8   // index of declineCodes
	response [2]byte // zero when approved
}

var approved verdict

// newVerdict returns the decline of a decline code of the contract and a two-character response
// code.
func newVerdict(decline, response string) (verdict, error) {
	i := slices.Index(declineCodes[:], v1.DeclineCode(decline))
	if i <= 0 {
		return verdict{}, fmt.Errorf("decline_code: %q is not a code of the contract", decline)
	}
	if len(response) != 2 || !upperAlphanumeric(response) || response == "00" {
		return verdict{}, fmt.Errorf("response_code: %q: want two capital letters or digits that mean a decline", response)
	}
	return verdict{decline: uint8(i), response: [2]byte([]byte(response))}, nil //nolint:gosec // an index of fifteen
}

// record is the outcome of a request. It has no pointers, so that the garbage collector does not
// scan a hundred thousand of them.
type record struct {
	amount  int64 // minor units of the request, or fewer if only a part is approved
	expires int64 // when an uncaptured authorization lapses if approved, Unix milliseconds; 0 for never
	balance acquirer.Balance
	verdict verdict
	checks  checks
	codes   codes
	prior   [6]byte // the code that the issuer approved under before, filled up with zeroes
	arrives int64   // when a late request has its effect, Unix milliseconds; 0 for immediately
	kind    kind
	network network
	voided  bool // a void named this reference
	final   bool // a capture that, if approved, releases the rest of its authorization
}

// filtered reports a decline by the acquirer's own checks after the issuer's approval. Such a
// payment also has the issuer's codes.
func (r record) filtered() bool {
	code := declineCodes[r.verdict.decline]
	return code == v1.DeclineCodeIncorrectCvc || code == v1.DeclineCodeIncorrectAddress
}

func (r record) response(id identity) acquirer.Response {
	a := acquirer.Response{
		Approved:     r.verdict == approved,
		ResponseCode: "00",
		Checks: acquirer.Checks{
			CVC: r.checks[0].String(), AddressLine: r.checks[1].String(), PostalCode: r.checks[2].String(), Codes: r.codes.shown(),
		},
	}
	if r.network != noNetwork && (a.Approved || r.filtered()) {
		a.Code, a.NetworkTransactionID = id.code(), id.networkTransactionID()
		if r.network == mastercard {
			a.NetworkLinkID = id.networkLinkID()
		}
	}
	if !a.Approved {
		a.ResponseCode = string(r.verdict.response[:])
		a.DeclineCode = string(declineCodes[r.verdict.decline])
		return a
	}
	a.Code, a.Amount, a.Balance = id.code(), r.amount, r.balance
	if r.prior[0] != 0 {
		a.Code = r.priorCode()
	}
	if r.expires != 0 {
		a.ExpiresAt = time.UnixMilli(r.expires).UTC()
	}
	return a
}

// finalField ends the line of a capture that releases the rest of its authorization.
const finalField = " final"

// appendLine appends the journal's line for e to dst.
func (e effect) appendLine(dst []byte) []byte {
	r := e.record
	dst = append(dst, byte(r.kind), ' ')
	dst = append(append(dst, e.reference...), ' ')
	dst = append(append(dst, orDash(e.authorization)...), ' ')
	if r.verdict == approved {
		dst = append(dst, "00 -"...)
	} else {
		dst = append(append(dst, r.verdict.response[:]...), ' ')
		dst = append(dst, declineCodes[r.verdict.decline]...)
	}
	dst = strconv.AppendInt(append(dst, ' '), r.amount, 10)
	dst = append(strconv.AppendInt(append(dst, ' '), r.expires, 10), ' ')
	for _, c := range r.checks {
		dst = append(dst, c.letter())
	}
	dst = append(dst, ' ', r.network.letter())
	if r.balance.Given {
		dst = strconv.AppendInt(append(dst, " b"...), r.balance.Amount, 10)
	}
	if r.codes != (codes{}) {
		dst = append(append(dst, " k"...), r.codes.journaled()...)
	}
	if r.prior[0] != 0 {
		dst = append(append(dst, " p"...), r.priorCode()...)
	}
	if r.arrives != 0 {
		dst = strconv.AppendInt(append(dst, " t"...), r.arrives, 10)
	}
	if r.final {
		dst = append(dst, finalField...)
	}
	return append(dst, '\n')
}

func (r record) priorCode() string { return string(bytes.TrimRight(r.prior[:], "\x00")) }

// parseLine reads a line that appendLine wrote, without its newline. The effect has an identity
// instead of its reference.
func parseLine(line []byte) (effect, bool) {
	var f [9][]byte
	more := true
	for i := range f {
		if !more {
			return effect{}, false
		}
		if f[i], line, more = bytes.Cut(line, []byte{' '}); len(f[i]) == 0 {
			return effect{}, false
		}
	}
	e := effect{id: digest(f[1])}
	if string(f[2]) != "-" {
		e.authorization = string(f[2])
	}
	kindOK := e.record.parseKind(f[0])
	verdictOK := e.record.parseVerdict(f[3], f[4])
	checksOK := e.record.parseChecks(f[7])
	amount, errAmount := strconv.ParseInt(string(f[5]), 10, 64)
	expires, errExpires := strconv.ParseInt(string(f[6]), 10, 64)
	e.record.amount, e.record.expires, e.record.network = amount, expires, networkOf(f[8][0])
	extrasOK := !more || e.record.parseExtras(line)
	return e, kindOK && verdictOK && checksOK && extrasOK && errAmount == nil && errExpires == nil
}

// parseExtras reads the fields that only some lines have. Each begins with another letter.
func (r *record) parseExtras(fields []byte) bool {
	for field := range bytes.SplitSeq(fields, []byte{' '}) {
		ok := false
		switch {
		case len(field) < 2:
		case field[0] == 'b':
			n, err := strconv.ParseInt(string(field[1:]), 10, 64)
			r.balance, ok = acquirer.Balance{Given: true, Amount: n}, err == nil
		case string(field) == finalField[1:]:
			r.final, ok = true, true
		case field[0] == 'k':
			ok = r.codes.parse(field[1:])
		case field[0] == 't':
			n, err := strconv.ParseInt(string(field[1:]), 10, 64)
			r.arrives, ok = n, err == nil
		case field[0] == 'p':
			ok = copy(r.prior[:], field[1:]) == len(field)-1 && upperAlphanumeric(r.priorCode())
		}
		if !ok {
			return false
		}
	}
	return true
}

func (c *codes) parse(field []byte) bool {
	into := [...]*byte{&c.avs, &c.cvc, &c.cavv}
	if len(field) != len(into) {
		return false
	}
	for i, b := range field {
		if b == '-' {
			continue
		}
		if !upperAlphanumeric(resultCode(b)) {
			return false
		}
		*into[i] = b
	}
	return true
}

func (r *record) parseKind(field []byte) bool {
	if len(field) != 1 {
		return false
	}
	switch k := kind(field[0]); k {
	case authorize, capture, void, refund, credit:
		r.kind = k
		return true
	case none:
	}
	return false
}

func (r *record) parseVerdict(response, decline []byte) bool {
	if string(response) == "00" {
		return string(decline) == "-"
	}
	v, err := newVerdict(string(decline), string(response))
	r.verdict = v
	return err == nil
}

func (r *record) parseChecks(field []byte) bool {
	if len(field) != len(r.checks) {
		return false
	}
	for i, c := range field {
		if c == '-' {
			continue
		}
		r.checks[i] = check(c)
		if r.checks[i].String() == "" {
			return false
		}
	}
	return true
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// identity is the digest of a reference. The codes of a response are derived from it, so they are
// not stored.
type identity [sha256.Size]byte

// key is the key of a reference in the memory.
type key [16]byte

func digest[T string | []byte](reference T) identity {
	const label = "causeway simulator 1:"
	var room [128 + len(label)]byte
	return sha256.Sum256(append(append(room[:0], label...), reference...))
}

func (id identity) key() key { return key(id[:16]) }

func (id identity) code() string { return capitals(id[:6]) }

func (id identity) networkTransactionID() string { return capitals(id[6:29]) }

func (id identity) networkLinkID() string { return capitals(id[10:]) }

func capitals(raw []byte) string {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	out := make([]byte, len(raw))
	for i, b := range raw {
		out[i] = digits[int(b)%len(digits)]
	}
	return string(out)
}

func upperAlphanumeric(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}

// identify refuses references that a line of the journal cannot contain.
func identify(reference string) (identity, error) {
	const longest = 128
	if reference == "" || len(reference) > longest {
		return identity{}, fmt.Errorf("simulator: reference of %d bytes, want 1 to %d: %w", len(reference), longest, acquirer.ErrUnavailable)
	}
	for i := range len(reference) {
		if c := reference[i]; c <= ' ' || c > '~' {
			return identity{}, fmt.Errorf("simulator: reference with other than printable ascii: %w", acquirer.ErrUnavailable)
		}
	}
	return digest(reference), nil
}
