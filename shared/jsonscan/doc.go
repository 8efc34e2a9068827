// Package jsonscan reads untrusted JSON texts before any limit but their size is checked. Its time
// and memory are proportional to the text's length. A jsontext.Pointer for each value is not: it
// repeats the names of all enclosing members.
package jsonscan
