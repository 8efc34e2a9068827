// Package wire is the border between the bytes of the provider-a dialect and
// ordered trees. It knows both formats (XML and JSON), the element order and
// the facets of the schema, and the exact texts of schema faults. It knows
// nothing of the v1 API and nothing of what a transaction means.
//
// # Requests
//
// Parse sniffs the format (never the Content-Type), reads the body, and judges
// it in this order: well-formed, namespace (E00045, XML only: JSON implies it),
// root name (E00004), schema (E00003). The result is the same tree for the same
// request in either format:
//
//   - JSON keys become children; an array repeats its key, so a lone object
//     equals an array of one; null and an empty array are absent; numbers and
//     booleans keep their literal text (12.50 stays "12.50").
//   - Blank text in an element that has a complex type is dropped. Text of a
//     simple type is kept as sent; Node.Get trims.
//   - An empty element is a Node with empty Text: Has is false, Child is not nil.
//     Facets do apply to it: an empty amount is not a decimal, an empty
//     cardNumber is too short. Elements of plain string type may be empty.
//   - Every node name is one the schema knows, in schema order unless
//     Options.LenientOrder is set, never more often than the schema allows. The
//     one exception are the three emv elements, which may hold anything.
//
// # Choices the contract leaves open
//
//   - Malformed XML (also a DOCTYPE, an entity, two roots, depth above 32, more
//     than 10,000 nodes, text that is not UTF-8) is E00003 with the constant
//     text "An error occurred while parsing the XML request.". So is an empty
//     body and one that is neither XML nor JSON; the fault is then XML.
//   - Malformed JSON (also a method twice, depth above 32, a second value, a
//     root that is not an object with exactly one member holding an object,
//     string or null, an array in an array, a key that is no ASCII XML name, a string
//     with a character XML cannot carry) is E00001 with the constant text
//     "An error occurred during processing. Please try again.". A body that
//     begins with `[` is malformed JSON.
//   - A body above Options.MaxBytes is malformed.
//   - An undeclared attribute is E00003 "The 'x' attribute is not declared.";
//     attributes of the schema-instance and xml namespaces are ignored.
//   - A child inside a simple type, and facets without a row in the contract
//     (fraction digits, total digits, minimum), use the wording of the same
//     validator.
//   - A transactionKey that begins with "sk_" may have 255 characters instead
//     of 16: it is a v1 API key.
//   - The length of a value counts UTF-16 units, as the validator did.
//
// # Secrets
//
// Card numbers and keys pass through Node. Node, Request and Fault print names
// and codes only, whatever the verb, the logger or the JSON encoder.
//
// Fault.Text quotes the offending value by contract, with exceptions. Values of
// cardNumber, cardCode, transactionKey and the other secret elements (account
// and track data, cryptograms, tokens, passwords, identity numbers) are quoted
// as sent only when they are too short and have fewer than 7 characters;
// otherwise all but the last 4 characters become X, and all of them when there
// are fewer than 8. In every other quoted value, and in names, a run of 13 or
// more digits (blanks, dashes and dots between them do not hide it) is masked alike.
// At most 4096 bytes of a value or name are quoted.
//
// # Answers
//
// A Document is one response tree, rendered twice: XML puts the base members
// (refId, messages) first, JSON puts them last and has no root. Both begin with
// a byte order mark. Element.Kind says how JSON shows an element.
package wire
