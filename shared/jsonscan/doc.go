// Package jsonscan reads untrusted JSON texts of which only the size is limited. Its time and
// memory are proportional to the text's length. That would not hold with a jsontext.Pointer for
// each value, which repeats the names of all enclosing members.
package jsonscan
