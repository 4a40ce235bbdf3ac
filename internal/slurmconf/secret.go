package slurmconf

import (
	"errors"
	"strings"
)

// WithStoragePass returns the content of slurmdbd.conf with the database
// password as its last line. It is for the host that holds the file alone: the
// result goes nowhere but into that file, with its mode. The error does not
// repeat the password.
func WithStoragePass(content, password string) (string, error) {
	if password == "" {
		return "", errors.New("the database password is empty")
	}
	if hasControl(password) || strings.ContainsAny(password, "\"#\\ ") {
		return "", errors.New(`the database password has a blank, '"', '#' or '\' in it, which slurmdbd.conf cannot carry`)
	}
	return content + "StoragePass=" + password + "\n", nil
}
