package store

// loginError is the type of ErrLogin.
type loginError struct{}

func (loginError) Error() string { return "the database refuses the login" }

// Is makes it an ErrForbidden.
func (loginError) Is(target error) bool { return target == ErrForbidden }
