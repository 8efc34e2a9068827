package money

// Currency is an active currency of ISO 4217.
type Currency struct {
	Code     string // three letters, lower case
	Exponent int    // decimals of the minor unit: 0, 2, 3 or 4
}

// Lookup returns the currency with this lower-case code, and false when there is no active one that
// has a minor unit.
func Lookup(code string) (Currency, bool) {
	exponent, ok := exponents[code]
	if !ok {
		return Currency{}, false
	}
	return Currency{Code: code, Exponent: exponent}, true
}

// exponents is ISO 4217 list one, fund codes included, as of January 2026 (bgn has left it, xad and
// xcg have come). It omits codes without a minor unit (metals, drawing rights, test and "no
// currency" codes), because no payment can be made in them.
var exponents = map[string]int{
	"bif": 0, "clp": 0, "djf": 0, "gnf": 0, "isk": 0, "jpy": 0, "kmf": 0, "krw": 0, "pyg": 0, "rwf": 0, "ugx": 0, "uyi": 0,
	"vnd": 0, "vuv": 0, "xaf": 0, "xof": 0, "xpf": 0,

	"aed": 2, "afn": 2, "all": 2, "amd": 2, "aoa": 2, "ars": 2, "aud": 2, "awg": 2, "azn": 2, "bam": 2, "bbd": 2, "bdt": 2,
	"bmd": 2, "bnd": 2, "bob": 2, "bov": 2, "brl": 2, "bsd": 2, "btn": 2, "bwp": 2, "byn": 2, "bzd": 2, "cad": 2, "cdf": 2,
	"che": 2, "chf": 2, "chw": 2, "cny": 2, "cop": 2, "cou": 2, "crc": 2, "cup": 2, "cve": 2, "czk": 2, "dkk": 2, "dop": 2,
	"dzd": 2, "egp": 2, "ern": 2, "etb": 2, "eur": 2, "fjd": 2, "fkp": 2, "gbp": 2, "gel": 2, "ghs": 2, "gip": 2, "gmd": 2,
	"gtq": 2, "gyd": 2, "hkd": 2, "hnl": 2, "htg": 2, "huf": 2, "idr": 2, "ils": 2, "inr": 2, "irr": 2, "jmd": 2, "kes": 2,
	"kgs": 2, "khr": 2, "kpw": 2, "kyd": 2, "kzt": 2, "lak": 2, "lbp": 2, "lkr": 2, "lrd": 2, "lsl": 2, "mad": 2, "mdl": 2,
	"mga": 2, "mkd": 2, "mmk": 2, "mnt": 2, "mop": 2, "mru": 2, "mur": 2, "mvr": 2, "mwk": 2, "mxn": 2, "mxv": 2, "myr": 2,
	"mzn": 2, "nad": 2, "ngn": 2, "nio": 2, "nok": 2, "npr": 2, "nzd": 2, "pab": 2, "pen": 2, "pgk": 2, "php": 2, "pkr": 2,
	"pln": 2, "qar": 2, "ron": 2, "rsd": 2, "rub": 2, "sar": 2, "sbd": 2, "scr": 2, "sdg": 2, "sek": 2, "sgd": 2, "shp": 2,
	"sle": 2, "sos": 2, "srd": 2, "ssp": 2, "stn": 2, "svc": 2, "syp": 2, "szl": 2, "thb": 2, "tjs": 2, "tmt": 2, "top": 2,
	"try": 2, "ttd": 2, "twd": 2, "tzs": 2, "uah": 2, "usd": 2, "usn": 2, "uyu": 2, "uzs": 2, "ved": 2, "ves": 2, "wst": 2,
	"xad": 2, "xcd": 2, "xcg": 2, "yer": 2, "zar": 2, "zmw": 2, "zwg": 2,

	"bhd": 3, "iqd": 3, "jod": 3, "kwd": 3, "lyd": 3, "omr": 3, "tnd": 3,

	"clf": 4, "uyw": 4,
}
