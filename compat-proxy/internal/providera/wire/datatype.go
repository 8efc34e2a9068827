package wire

// Datatype is a datatype of the schema for texts.
type Datatype struct{ simple *simpleType }

// The datatypes of values in responses that another API may have stored in another form.
var (
	CustomerType   = Datatype{customerType.simple}
	EcheckType     = Datatype{echeckType.simple}
	ProfileType    = Datatype{profileType.simple}
	NetworkTransID = Datatype{networkTransID.simple}
)

// Allows reports whether the schema allows the text.
func (d Datatype) Allows(text string) bool { return d.simple.violation(text) == "" }
