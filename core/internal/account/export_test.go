package account

// ErrAltered reports an account that is not the one for which its credentials were sealed.
var ErrAltered = errAltered
