package providera

import (
	"github.com/causeway-pay/causeway/core/internal/acquirer"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// class is the effect of a request, as a code of the response proves it.
type class string

// The classes.
const (
	approved class = "approved"
	declined class = "declined"
	// noEffect: the request was not processed, because of the account, its credentials or the
	// service.
	noEffect class = "no-effect"
	unknown  class = "unknown"
)

// verdict is the meaning of a code.
type verdict struct {
	class    class
	decline  v1.DeclineCode // of a decline
	response string         // ISO 8583 field 39
}

// The response codes of this package, of ISO 8583 field 39.
const (
	isoApproved        = "00"
	isoReferral        = "01"
	isoPickUp          = "04"
	isoDoNotHonor      = "05"
	isoInvalid         = "12" // transaction
	isoAmount          = "13"
	isoNumber          = "14"
	isoNotFound        = "25"
	isoFormat          = "30"
	isoExpired         = "54"
	isoNotPermitted    = "57"
	isoFraud           = "59"
	isoLimit           = "61"
	isoUnreachable     = "91"
	isoSystem          = "96"
	isoCardCode        = "N7"
	reasonApproved     = 1
	reasonDuplicate    = 11
	reasonProcessorDup = 318 // the processor's own code for a duplicate
	reasonPartial      = 295
	reasonVoided       = 310
	reasonCaptured     = 311
)

// span is a range of reason codes.
type span struct{ first, last int }

func one(code int) span         { return span{code, code} }
func to(first, last int) span   { return span{first, last} }
func each(codes ...span) []span { return codes }

// reasons maps the reason code of a transaction's response to its verdict. A code that is not here
// is unknown.
//
// Reason 11 proves that an equal request exists, and not that it was approved. The reasons 19 to
// 26, 57 to 63 and 241 have the text of a system error, as E00001 has. The issuer has approved
// before the reasons 36, 52 and 152. A payment under review has no outcome until the merchant
// decides.
var reasons = reasonTable([]struct {
	verdict

	codes []span
}{
	{verdict{approved, "", isoApproved}, each(one(reasonApproved), one(reasonPartial))},
	{verdict{declined, v1.DeclineCodeGenericDecline, isoDoNotHonor}, each(
		one(2), one(141), one(145), one(165), one(191), to(200, 208), to(210, 213), to(215, 219), to(221, 223))},
	{verdict{declined, v1.DeclineCodeCallIssuer, isoReferral}, each(one(3))},
	{verdict{declined, v1.DeclineCodePickupCard, isoPickUp}, each(one(4))},
	{verdict{declined, v1.DeclineCodeExpiredCard, isoExpired}, each(one(8), one(317))},
	{verdict{declined, v1.DeclineCodeIncorrectAddress, isoDoNotHonor}, each(one(27), one(127))},
	{verdict{declined, v1.DeclineCodeIncorrectCvc, isoCardCode}, each(one(44), one(45), one(65), one(78))},
	{verdict{declined, v1.DeclineCodeCardNotSupported, isoNumber}, each(one(6), one(37), one(315))},
	{verdict{declined, v1.DeclineCodeCardNotSupported, isoNotPermitted}, each(
		one(17), one(28), one(128), one(289), to(155, 156))},
	{verdict{declined, v1.DeclineCodeLimitExceeded, isoLimit}, each(one(49))},
	{verdict{declined, v1.DeclineCodeSuspectedFraud, isoFraud}, each(one(41), to(250, 251), one(254))},
	{verdict{declined, v1.DeclineCodeProcessingError, isoUnreachable}, each(one(209), one(214), one(220), one(224))},
	// The request is wrong, or does not fit the state of its original.
	{verdict{declined, v1.DeclineCodeProcessingError, isoFormat}, each(
		one(7), to(9, 10), one(12), one(15), one(33), one(42), to(68, 77), to(84, 85), to(87, 89), one(100),
		to(116, 118), one(153), to(243, 248), to(270, 271), one(290), one(316))},
	{verdict{declined, v1.DeclineCodeProcessingError, isoAmount}, each(one(5), one(47), one(51), one(55), one(2200))},
	{verdict{declined, v1.DeclineCodeProcessingError, isoNotFound}, each(one(16), one(319))},
	{verdict{declined, v1.DeclineCodeProcessingError, isoInvalid}, each(
		one(46), one(48), one(50), to(53, 54), one(64), one(66), one(175), to(225, 240), one(242), one(265),
		to(296, 298), one(reasonVoided), one(reasonCaptured), one(327), to(2000, 2109))},
	// The merchant's account cannot take the request.
	{verdict{class: noEffect}, each(
		one(13), one(18), one(35), to(38, 39), one(43), one(56), to(131, 132), to(170, 174), one(185))},
	{verdict{class: unknown}, each(
		one(reasonDuplicate), to(19, 23), to(25, 26), one(36), one(52), to(57, 63), to(104, 110), one(152), one(193),
		one(241), to(252, 253), one(reasonProcessorDup))},
})

func reasonTable(rows []struct {
	verdict

	codes []span
},
) map[int]verdict {
	table := map[int]verdict{}
	for _, row := range rows {
		for _, s := range row.codes {
			for code := s.first; code <= s.last; code++ {
				table[code] = row.verdict
			}
		}
	}
	return table
}

// envelopes maps the code of a response without a transaction to its verdict. A code that is not
// here is unknown. E00027 comes with the reasons of a transaction: without them it proves nothing.
var envelopes = envelopeTable([]struct {
	verdict

	codes []string
}{
	// The login, the account or the service.
	{verdict{class: noEffect}, []string{
		"E00002", "E00004", "E00005", "E00006", "E00007", "E00008", "E00009", "E00010", "E00011", "E00045", "E00053",
		"E00059", "E00104", "E00123", "E00124", "E00139",
	}},
	// A value of the request.
	{verdict{declined, v1.DeclineCodeProcessingError, isoFormat}, []string{
		"E00003", "E00013", "E00014", "E00015", "E00016", "E00029", "E00039", "E00040", "E00041", "E00042", "E00043",
		"E00044", "E00051", "E00052", "E00060", "E00067", "E00068", "E00071", "E00072", "E00073", "E00075", "E00076",
		"E00077", "E00088", "E00089", "E00090", "E00091", "E00092", "E00093", "E00095", "E00098", "E00099", "E00100",
		"E00101", "E00102", "E00103", "E00108", "E00113", "E00114", "E00115", "E00116", "E00117", "E00120", "E00121",
		"E00141", "E00142",
	}},
	{verdict{class: unknown}, []string{"I00001", "I00003", "I00004", "E00001", "E00027", "E00035"}},
})

func envelopeTable(rows []struct {
	verdict

	codes []string
},
) map[string]verdict {
	table := map[string]verdict{}
	for _, row := range rows {
		for _, code := range row.codes {
			table[code] = row.verdict
		}
	}
	return table
}

// meaning returns the verdict of a response code and a reason. A pair that the contract does not
// have is unknown.
func meaning(responseCode string, reason int) verdict {
	v, known := reasons[reason]
	if !known {
		return verdict{class: unknown}
	}
	fits := false
	switch responseCode {
	case "1":
		fits = reason == reasonApproved || reason == reasonVoided || reason == reasonCaptured
	case "2", "3":
		fits = v.class != approved && reason != reasonVoided && reason != reasonCaptured
	case "4":
		fits = reason == reasonPartial
	}
	if !fits {
		return verdict{class: unknown}
	}
	return v
}

// retryable reports whether a decline came from systems that were away, not from a decision about
// the card.
func (v verdict) retryable() bool { return v.class == declined && v.response == isoUnreachable }

// network returns the decline of a processed payment as the network's. The API passes on no field
// 39. Only reason 4 has a single meaning in it: the issuer wants the card.
func (v verdict) network() acquirer.NetworkDecline {
	out := acquirer.NetworkDecline{Given: true}
	if v.decline == v1.DeclineCodePickupCard {
		out.Code = v.response
	}
	return out
}
