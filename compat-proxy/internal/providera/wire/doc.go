// Package wire converts between the bytes of the provider-a dialect and etree elements. It
// implements both formats (XML and JSON), the element order and the facets of the schema, and the
// exact texts of schema faults. It contains nothing of the v1 API, nor of the meaning of a
// transaction.
//
// # Requests
//
// Parse detects the format from the body, never from the Content-Type. It checks in this order:
// well-formed, namespace (E00045, XML only: JSON implies it), root name (E00004), schema (E00003).
// The same request gives the same tree in either format:
//
//   - JSON keys become children. An array repeats its key, so a lone object equals an array of one.
//     Null and an empty array are absent. Numbers and booleans keep their literal text (12.50 stays
//     "12.50").
//   - Blank text in an element of a complex type is dropped. Text of a simple type is kept as sent;
//     Node.Get trims.
//   - An empty element is a Node with empty Text: Has is false, Present is true. Facets do apply
//     to it: an empty amount is not a decimal, an empty cardNumber is too short. Elements of plain
//     string type may be empty.
//   - Every node name is a name of the schema, in schema order unless Options.LenientOrder is set,
//     and no more often than the schema allows. The three emv elements are the exception: they may
//     hold anything.
//
// # Choices that the contract leaves open
//
//   - Malformed XML is E00003 with the constant text "An error occurred while parsing the XML
//     request.". That includes a DOCTYPE, an entity, two roots, depth above 32, more than 4,000
//     nodes, and text that is not UTF-8. An empty body, and one that is neither XML nor JSON, has
//     the same fault, in XML.
//   - Malformed JSON is E00001 with the constant text "An error occurred during processing. Please
//     try again.". That includes a method twice, depth above 32, a second value, an array in an
//     array, and a body that begins with `[`. It also includes a key that is not an ASCII XML
//     name, and a string with a character that XML cannot carry. The root must be an object with
//     exactly one member, which holds an object, string or null.
//   - A body above Options.MaxBytes is malformed. A caller that does not read it to its end sends
//     Malformed.
//   - An undeclared attribute is E00003 "The 'x' attribute is not declared.". Attributes of the
//     schema-instance and xml namespaces are ignored.
//   - A child inside a simple type uses the wording of the provider's validator. So do facets
//     without a row in the contract: fraction digits, total digits, minimum.
//   - A transactionKey that begins with "sk_" is a v1 API key. It may have 255 characters instead
//     of 16.
//   - The length of a value counts UTF-16 units, like the provider's validator.
//
// # Secrets
//
// Card numbers and keys pass through Node. Node, Request and Fault print at most names and codes,
// for every verb, logger and JSON encoder.
//
// Fault.Text quotes the invalid value by contract, with exceptions. The secret elements are
// cardNumber, cardCode, transactionKey, account and track data, cryptograms, tokens, passwords and
// identity numbers. A secret value is quoted as sent only if it is too short and has fewer than 7
// characters. Otherwise all but the last 4 characters become X, or all of them if there are fewer
// than 8. In every other quoted value, and in names, a run of 13 or more digits is masked in the
// same way. Blanks, dashes and dots do not end a run. At most 4096 bytes of a value or name are
// quoted.
//
// # Responses
//
// A Document is one response tree that can be rendered in both formats. XML puts the base members
// (refId, messages) first. JSON puts them last and has no root. Both begin with a byte order mark.
// Element.Form decides the JSON form of an element.
package wire
