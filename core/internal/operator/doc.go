// Package operator is the contract of the operator's API in types and as a document. It is another
// contract than v1's: v1 is for merchants, this one is for the operators of the service.
package operator
