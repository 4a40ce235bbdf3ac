package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ReadStackFile reads an environment's file. Anything that is no regular file,
// such as a pipe, is refused: reading it may never end.
func ReadStackFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: errors.New("not a regular file\n  hint: write the environment into a file")}
	}
	if err != nil {
		return nil, fmt.Errorf("reading the environment: %w", err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the environment: %w", err)
	}
	return content, nil
}
