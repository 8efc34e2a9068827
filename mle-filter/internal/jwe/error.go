package jwe

// Reason is the reason to refuse a message, in a word that metrics and logs may hold.
type Reason string

// The reasons there are.
const (
	ReasonEncoding Reason = "encoding" // not five canonical segments
	ReasonHeader   Reason = "header"   // an invalid protected header, or one with forbidden content
	ReasonAlg      Reason = "alg"      // an algorithm that is not on the list, or not the key's
	ReasonKID      Reason = "kid"      // a kid that cannot be one
	ReasonEPK      Reason = "epk"      // an ephemeral key that is not a point of P-256
	ReasonSize     Reason = "size"     // more plaintext than is taken
	ReasonDecrypt  Reason = "decrypt"  // all that the private key decided
)

// Error is why a message was not opened. The hint is for the sender; it repeats nothing that was
// sent.
type Error struct {
	Reason Reason
	Hint   string
}

func (r *Error) Error() string { return "jwe: " + r.Hint }

func refuse(reason Reason, hint string) error { return &Error{Reason: reason, Hint: hint} }

// errDecrypt is the one result for every fault that the private key decided.
var errDecrypt = &Error{Reason: ReasonDecrypt, Hint: "The body cannot be decrypted."}
